"""C functions as properties, final condition, input assumption and invariant: what they mean, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names, write_files
from small_programs import GOOD, program, project

from bmc.errors import InputRefused
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.subject import Subject
from properties.goal import Goal
from properties.monitor import Monitor


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    with fresh_names():
        yield


def read(folder: Path, code: str, toml: str = "") -> Subject:
    write_files(folder, {"c.c": code} | ({"chaincover.toml": toml} if toml else {}))
    return load(read_project(str(folder / ("chaincover.toml" if toml else "c.c"))))


def goal_of(folder: Path, after: str) -> Goal:
    """The goal of the one property function in ``after``."""
    return read(folder, program(after=after)).goals[0]


def judged(goal: Goal, *steps: tuple[int, int, int], end: int = 0) -> dict[int, bool | None]:
    """Steps at which a run covers ``goal`` and what the oracle says; ``steps`` give n before, a and b; m is 0."""
    states = [{"s->n": n % 2**32, "s->m": 0} for n, _, _ in steps] + [{"s->n": end % 2**32, "s->m": 0}]
    run = Run(tuple(states), tuple({"i->a": a % 2**32, "i->b": b} for _, a, b in steps))
    monitor = Monitor([goal])
    return {step: monitor.judge(run, goal.name, step) for step in monitor.covered(run)[goal.name]}


def test_one_step(tmp_path: Path) -> None:
    goal = goal_of(
        tmp_path,
        "void p_1(t_in *i, t_st *s) { __CPROVER_assume(s->n == 1 && i->b); compute(i, s); assert(s->n == 2); }",
    )
    assert (goal.name, goal.length) == ("p_1", 1)
    assert goal.where is not None
    assert (goal.where.line, goal.where.column) == (10, 6)
    assert judged(goal, (1, 0, 1), (2, 0, 1), (1, 0, 0), (1, 5, 1), end=3) == {0: True, 3: False}


def test_two_steps_read_the_inputs_of_each(tmp_path: Path) -> None:
    goal = goal_of(
        tmp_path,
        """void p_1(t_in *i, t_st *s) {
  __CPROVER_assume(s->n == 1 && i[0].b && !i[1].b);
  compute(&i[0], s);
  compute(&i[1], s);
  assert(s->n == 2);
}""",
    )
    assert goal.length == 2
    assert judged(goal, (1, 0, 1), (2, 0, 0), end=2) == {0: True}
    assert judged(goal, (1, 0, 1), (2, 0, 0), end=3) == {0: False}
    assert judged(goal, (1, 0, 1), (2, 0, 1), end=2) == {}


def test_assumptions_between_two_steps_and_old_values(tmp_path: Path) -> None:
    goal = goal_of(
        tmp_path,
        """void p_1(t_in *i, t_st *s) {
  int before = s->n;
  compute(&i[0], s);
  __CPROVER_assume(s->n == before + 1);
  compute(&i[1], s);
  assert(s->n == before + 2);
}""",
    )
    assert goal.length == 2
    assert judged(goal, (4, 0, 0), (5, 0, 0), end=6) == {0: True}
    assert judged(goal, (4, 0, 0), (6, 0, 0), end=6) == {}
    assert judged(goal, (4, 0, 0), (5, 0, 0), end=5) == {0: False}


def test_one_pointer_in_two_calls_means_the_same_inputs(tmp_path: Path) -> None:
    goal = goal_of(tmp_path, "void p_1(t_in *i, t_st *s) { compute(i, s); compute(i, s); }")
    assert judged(goal, (0, 3, 1), (0, 3, 1), (0, 3, 0), (0, 4, 0), (0, 4, 0)) == {0: None, 3: None}


def test_steps_in_a_loop(tmp_path: Path) -> None:
    goal = goal_of(
        tmp_path,
        """void p_1(t_in *i, t_st *s) {
  for (int k = 0; k < 3; k++) {
    __CPROVER_assume(i[k].a == k);
    compute(&i[k], s);
  }
  assert(s->n == 3);
}""",
    )
    assert goal.length == 3
    assert judged(goal, (0, 0, 1), (0, 1, 0), (0, 2, 0), (0, 0, 0), end=3) == {0: False}
    assert judged(goal, (0, 0, 1), (0, 1, 0), (0, 2, 0), (3, 0, 0)) == {0: True}


def test_inputs_beyond_the_last_step_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="'p_1' is always undefined: index out of range") as caught:
        goal_of(tmp_path, "void p_1(t_in *i, t_st *s) { __CPROVER_assume(i[1].b); compute(i, s); }")
    assert "calls the step 1 time(s)" in caught.value.hint


def test_inputs_set_by_the_property(tmp_path: Path) -> None:
    local = "void p_1(t_in *i, t_st *s) { t_in x; x.a = 7; x.b = 1; compute(&x, s); assert(s->n > 0); }"
    through = "void p_1(t_in *i, t_st *s) { i->a = 7; i->b = s->n == 0; compute(i, s); assert(s->n > 0); }"
    assert judged(goal_of(tmp_path, local), (0, 7, 1), (1, 7, 0), (2, 6, 1), end=0) == {0: True}
    assert judged(goal_of(tmp_path, through), (0, 7, 1), (1, 7, 0), (2, 6, 0), end=0) == {0: True, 1: True}


def test_helpers_conditions_and_no_oracle(tmp_path: Path) -> None:
    goal = goal_of(
        tmp_path,
        """static int at(const t_st *s, int n) { return s->n == n; }
void p_1(t_in *i, t_st *s) {
  if (i->b)
    __CPROVER_assume(at(s, 1));
  else
    __CPROVER_assume(at(s, 2) || at(s, 3));
  compute(i, s);
}""",
    )
    assert goal.consequent is None
    assert judged(goal, (1, 0, 1), (1, 0, 0), (2, 0, 0), (3, 0, 0), (3, 0, 1)) == {0: None, 2: None, 3: None}


def test_an_oracle_that_is_undefined_does_not_hold_and_restricts_nothing(tmp_path: Path) -> None:
    goal = goal_of(tmp_path, "void p_1(t_in *i, t_st *s) { compute(i, s); assert(10 / s->n == 5); }")
    assert judged(goal, (0, 0, 0), (2, 0, 0), end=0) == {0: True, 1: False}


def test_scalars_by_value_and_the_result(tmp_path: Path) -> None:
    code = """\
#include <assert.h>
void __CPROVER_assume(int condition);
static int n;
int compute(int level, _Bool on) { if (level > 3 && on) n++; return 2 * n; }
void p_1(int level, _Bool on) { __CPROVER_assume(level == 5); int r = compute(level, on); assert(r == 2 * n); }
void p_2(int level) { __CPROVER_assume(n == 3); compute(level, 1); }
"""
    first, second = read(tmp_path, code).goals
    run = Run(
        tuple({"n": n, "return": r, "return#defined": 1} for n, r in ((3, 0), (4, 8), (3, 7), (3, 5))),
        tuple({"level": level, "on": on} for level, on in ((5, 1), (5, 0), (2, 1))),
    )
    monitor = Monitor([first, second])
    assert monitor.covered(run) == {"p_1": [0, 1], "p_2": [0, 2]}
    assert [monitor.judge(run, "p_1", step) for step in (0, 1)] == [True, False]


def test_globals_as_inputs(tmp_path: Path) -> None:
    code = """\
#include <assert.h>
void __CPROVER_assume(int condition);
int level;
static int n;
void compute(void) { if (level > 3) n++; }
void p_1(void) {
  __CPROVER_assume(n == 1 && level == 5);
  compute();
  __CPROVER_assume(level < 0);
  compute();
  assert(n == 2);
}
void p_2(void) { level = n; compute(); }
"""
    first, second = read(tmp_path, code, project("[interface]\ninput = ['level']")).goals
    assert (first.length, second.length) == (2, 1)
    states = tuple({"n": n} for n in (1, 2, 2, 1))
    run = Run(states, tuple({"level": level % 2**32} for level in (5, -1, 2)))
    monitor = Monitor([first, second])
    assert monitor.covered(run) == {"p_1": [0], "p_2": [2]}
    assert monitor.judge(run, "p_1", 0) is True


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("assert(s->n);", "the property function 'p_1' never calls 'compute'"),
        ("if (s->n) compute(i, s);", "a property must call the step unconditionally"),
        ("s->n = 3; compute(i, s);", "'s->n' is not the controller's own state when the step is called"),
        (
            "t_st x = *s; compute(i, &x); assert(x.n);",
            "'s->n' is not the controller's own state when the step is called",
        ),
        ("compute(i);", "takes"),
        ("compute(i, s); s->m = 1; compute(&i[1], s);", "'s->m' is not the controller's own state"),
    ],
)
def test_refused_bodies(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match=message) as caught:
        goal_of(tmp_path, f"void p_1(t_in *i, t_st *s) {{ {body} }}")
    assert caught.value.where is not None
    assert caught.value.where.file.endswith("c.c")
    assert caught.value.where.line == 10


def test_refused_parameters(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match=r"parameter 'x' \(long \*\) of 'p_1' matches no parameter of the step"):
        goal_of(tmp_path, "void p_1(t_in *i, long *x) { compute(i, 0); }")


def test_assert_without_its_header(tmp_path: Path) -> None:
    """As the paper's programs write it: the oracle is the same."""
    code = program(after="void p_1(t_in *i, t_st *s) { compute(i, s); assert(10 / s->n > 1); }")
    bare = code.replace("#include <assert.h>", "")
    assert bare != code
    (goal,), (same,) = (read(tmp_path, text).goals for text in (code, bare))
    assert (same.antecedent, same.consequent, same.length) == (goal.antecedent, goal.consequent, goal.length)
    assert goal.antecedent.is_true()


def test_assumption_and_final_are_found_by_name(tmp_path: Path) -> None:
    after = """int assumption(t_in *i, t_st *s) { return i->a == 1 || (s->n && i->a == 2); }
int final(t_st *s) { return s->n == 4 && 8 / s->n == 2; }"""
    subject = read(tmp_path, program(after=after))
    allowed = Simulator(subject.system).allowed
    given = [(0, 1), (0, 2), (1, 2), (1, 3)]
    answers = [allowed({"s->n": n, "s->m": 0}, {"i->a": a, "i->b": 0}) for n, a in given]
    assert answers == [True, False, True, False]
    assert subject.final_text == "final()"
    assert subject.final is not None
    assert sorted(s.symbol_name() for s in subject.final.get_free_variables()) == ["s->n"]


def test_void_assumption_holds_where_its_own_assumptions_do(tmp_path: Path) -> None:
    subject = read(tmp_path, program(after="void assumption(t_in *i) { __CPROVER_assume(i->a > 2); }"))
    allowed = Simulator(subject.system).allowed
    assert [allowed({"s->n": 0, "s->m": 0}, {"i->a": a, "i->b": 0}) for a in (2, 3)] == [False, True]


def test_condition_functions_do_not_step(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="'final' states a condition and must not call the step"):
        read(tmp_path, program(after="int final(t_st *s) { t_in i = {0, 1}; compute(&i, s); return s->n == 0; }"))


@pytest.mark.parametrize(
    ("condition", "claim"), [("s->n <= 100", "proved inductive"), ("s->m < s->n + 300", "assumed")]
)
def test_invariants_are_proved_or_said_not_to_be(condition: str, claim: str, tmp_path: Path) -> None:
    """n <= 100 is inductive; of the other the step from n = INT_MAX - 2 is not known to be impossible."""
    code = program("if (i->b && s->n != 100) s->n++;", after=f"int ok(t_st *s) {{ return {condition}; }}")
    toml = project("[functions]\ninvariant = ['ok']\n[ranges]\n'i->a' = [0]\n[[property]]\ntext = 'x: cover(n == 2)'")
    write_files(tmp_path, {"c.c": code, "chaincover.toml": toml})
    outcome = chaincover("generate", ".", "--json", "--no-replay", cwd=tmp_path)
    assert outcome.code == 0
    claims = [text for text in outcome.json["claims"] if "ok" in text]
    assert len(claims) == 1
    assert (claim if claim != "assumed" else "not proved, not used") in claims[0]


def test_both_forms_together(tmp_path: Path) -> None:
    code = program(after="void p_c(t_in *i, t_st *s) { __CPROVER_assume(s->n == 1); compute(i, s); }")
    write_files(tmp_path, {"c.c": code})
    outcome = chaincover("generate", "c.c", "--property", "t: cover(n == 2)", "--json", cwd=tmp_path)
    assert outcome.code == 0
    assert [goal["name"] for goal in outcome.json["goals"]] == ["p_c", "t"]
    assert outcome.json["bounds"]["length"] == 2


def test_good_has_no_goal_of_its_own(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD).goals == ()


def test_a_condition_to_cover_is_a_goal_without_oracle(tmp_path: Path) -> None:
    """With assumptions before it, and after a step too."""
    goal = goal_of(tmp_path, "void p_1(t_in *i, t_st *s) { if (i->b) __CPROVER_cover(s->n == 2); }")
    assert (goal.length, goal.consequent, goal.text) == (1, None, "s->n == 2")
    assert judged(goal, (2, 0, 0), (2, 0, 1), (1, 0, 1), (2, 0, 1)) == {1: None, 3: None}
    body = "__CPROVER_assume(i->b); compute(i, s); __CPROVER_cover(s->n == 2);"
    goal = goal_of(tmp_path, f"void p_1(t_in *i, t_st *s) {{ {body} }}")
    assert judged(goal, (2, 0, 1), (2, 0, 1), (1, 0, 0), (1, 0, 1), end=2) == {0: None, 3: None}
    with pytest.raises(InputRefused, match="several conditions to cover") as caught:
        goal_of(tmp_path, "void p_1(t_in *i, t_st *s) {\n__CPROVER_cover(i->b);\n__CPROVER_cover(i->a); }")
    assert caught.value.where is not None
    assert caught.value.where.line == 12


@pytest.mark.needs_compiler
def test_what_the_code_asks_to_be_covered_is_a_goal(tmp_path: Path) -> None:
    """In the step and in what it calls; of two calls of a function any one covers; the compiled original goes on."""
    step = """static int more(int n) { __CPROVER_cover(n == 2);
  return n + 1; }
void compute(_Bool up, _Bool twice) {
  if (up) n = more(n);
  if (up && twice) { n = more(n); __CPROVER_cover(1); __CPROVER_cover(n == 5); }
}
"""
    (tmp_path / "c.c").write_text(f"unsigned char n;\n{step}")
    goals = {goal.name: goal for goal in load(read_project(str(tmp_path / "c.c"))).goals}
    assert [(name, goal.text, goal.length) for name, goal in goals.items()] == [
        ("cover_2", "__CPROVER_cover(n == 2)", 1),
        ("cover_6", "__CPROVER_cover(1)", 1),
        ("cover_6.55", "__CPROVER_cover(n == 5)", 1),
    ]
    monitor = Monitor(list(goals.values()))
    states = ({"n": 0}, {"n": 1}, {"n": 3}, {"n": 3}, {"n": 5})
    inputs = ({"up": 1, "twice": 0}, {"up": 1, "twice": 1}, {"up": 0, "twice": 1}, {"up": 1, "twice": 1})
    assert monitor.covered(Run(states, inputs)) == {"cover_2": [1], "cover_6": [1, 3], "cover_6.55": [3]}
    done = chaincover("generate", tmp_path / "c.c", "-q", "-o", tmp_path / "out")
    assert done.code == 0, done.err


@pytest.mark.parametrize("oracle", ["10 / s->n != 3", "10 % s->n == 10 || 10 / s->n == -1", "!(10 / s->n == 3)"])
def test_an_oracle_that_divides_by_zero_fails_and_excludes_nothing(tmp_path: Path, oracle: str) -> None:
    """Whatever a division by zero may be taken for: the goal is covered there, and its consequent does not hold."""
    body = f"__CPROVER_assume(i->b); compute(i, s); assert({oracle});"
    goal = goal_of(tmp_path, f"void p_1(t_in *i, t_st *s) {{ {body} }}")
    assert judged(goal, (1, 0, 1), (0, 0, 1), (10, 0, 1), end=10)[0] is False
    assert set(judged(goal, (1, 0, 1), (0, 0, 1), (10, 0, 1), end=10)) == {0, 1, 2}
