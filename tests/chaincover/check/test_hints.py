"""What explains a goal that cannot be met, and what will be slow with its remedy: told for the right reason only."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, fresh_names
from pysmt.shortcuts import BV, BVULT, And, BVAdd, Equals, Ite

from bmc.engines import choose
from bmc.formulas.value_sets import Ranges, whole
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.check import hints
from chaincover.check.hints import few_states, fewer_inputs, find_slow
from chaincover.limits import Limits
from chaincover.project.load import load
from chaincover.project.project_file import read_project

PROGRAM = """typedef struct { int a; unsigned char b; } t_input;
typedef struct { unsigned short Timer; unsigned short seen; unsigned char mode; int out; } t_state;
void init(t_state *s) { s->Timer = 0; s->seen = 0; s->mode = 0; s->out = 0; }
void compute(t_input *i, t_state *s) {
%s
}
"""
COUNTS = """  s->Timer++;
  s->seen += i->b;
  if (s->Timer > 300) s->mode = 2;
  s->out = s->mode + s->seen;"""
DIVIDES = "  s->mode = (unsigned char)(100 / i->b > 5); s->out = 0;"


def told(folder: Path, body: str, *properties: str, given: str = "") -> list[str]:
    """The lines of ``check`` for a program with this step and ``properties``."""
    write(folder, body, *properties)
    return chaincover("check", folder, "--compare", "0", *given.split()).out.splitlines()


def write(folder: Path, body: str, *properties: str) -> None:
    """A program with this step and ``properties``, with its project file."""
    (folder / "c.c").write_text(PROGRAM % body)
    texts = "".join(f"[[property]]\nid = 'g{number}'\ntext = '{text}'\n" for number, text in enumerate(properties))
    project = "[sources]\nfiles = ['c.c']\n[ranges]\n'i->a' = '0..9'\n"
    (folder / "chaincover.toml").write_text(project + texts)


@pytest.mark.parametrize(
    ("body", "text", "why"),
    [
        ("  s->mode = i->a ? 0 : 2; s->out = 0;", "cover(mode == 1)", "it asks of s->mode a value that this never has"),
        ("  s->mode = 0; s->out = 0;", "cover(a == 20)", "it asks of i->a what the allowed values exclude: 0..9"),
        (DIVIDES, "cover(b == 0)", "every step that meets it is undefined, see undefined behaviour"),
    ],
)
def test_a_goal_that_cannot_be_met_comes_first_with_its_reason(tmp_path: Path, body: str, text: str, why: str) -> None:
    lines = told(tmp_path, body, text, "cover(out == 0)")
    assert "problem" in lines[0]
    (line,) = [line for line in lines if "g0" in line and "chaincover.toml:" in line]
    assert line.startswith(("UNSATISFIABLE: ", "UNREACHABLE: "))
    assert f": {why}" in line
    assert not any("g1" in line for line in lines if line.startswith("UN"))


def test_a_goal_without_a_reason_gets_none(tmp_path: Path) -> None:
    (line,) = [
        line for line in told(tmp_path, "  s->mode = 0;", "cover(a == 3 && b == a && b == 4)") if "UNSAT" in line
    ]
    assert line.endswith("chaincover.toml:7)")


def test_a_counter_that_makes_the_states_many_is_told_with_what_it_is_compared_with(tmp_path: Path) -> None:
    lines = told(tmp_path, COUNTS, "cover(mode == 2 && out == 77)", given="--effort 0.005")
    slow = next(number for number, line in enumerate(lines) if line.startswith("slow: s->Timer"))
    assert lines[slow] == "slow: s->Timer is not proved to stay below 65,535 and is compared with 300 at most"
    assert lines[slow + 1].startswith("  next: give inputs smaller ranges, state an assumption that keeps it small")
    assert lines[slow + 1].endswith("count only while s->Timer <= 300")
    assert slow < next(number for number, line in enumerate(lines) if line.startswith("init "))


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        ((), "give inputs smaller ranges"),
        (((2, 90),), "list single values of level in place of 2..90"),
        (((0, 1),), "exclude combinations of inputs ([constraints])"),
    ],
)
def test_what_can_be_done_about_inputs_is_not_what_was_done(values: Ranges, advice: str) -> None:
    assert fewer_inputs(TransitionSystem("c", (), (InputVariable("level", ValueType("byte", 8), values),))) == advice


def test_where_few_states_were_looked_at_wide_inputs_are_named() -> None:
    byte, word = ValueType("byte", 8), ValueType("word", 16)
    inputs = (InputVariable("on", byte, ((0, 1),)), InputVariable("duty", byte), InputVariable("volt", word))
    said = "The states of c are not all enumerated: within the effort 1 of them was looked at"
    assert few_states(TransitionSystem("c", (), inputs), 1) == (
        f"{said}, with all values of the inputs: volt has 65,536, duty has 256."
    )
    assert few_states(TransitionSystem("c", (), inputs[:1]), 1) == f"{said}."


def test_a_counter_without_any_limit_is_only_not_proved_to_stay_small(tmp_path: Path) -> None:
    write(tmp_path, "  if (i->b) s->seen++; s->out = s->seen;", "cover(out == 77)")
    with fresh_names():
        subject = load(read_project(str(tmp_path)))
        (slow,) = find_slow(subject.system, subject.goals, Limits())
    assert slow.text == "s->seen is not proved to stay below 65,535"
    assert "make its limit smaller (with -D where it is a macro behind #ifndef)" in slow.remedy


def test_the_remedy_for_a_counter_works(tmp_path: Path) -> None:
    """Told for the program that counts on, and followed, there are as many states as before the limit."""
    stopped = COUNTS.replace("s->Timer++;", "if (s->Timer <= 300) s->Timer++;").replace("s->seen += i->b;", "")
    lines = told(tmp_path, stopped, "cover(mode == 2 && out == 2)")
    assert "states: 302 reachable, all enumerated" in lines
    assert not any(line.startswith("slow") for line in lines)


def test_a_counter_is_no_matter_where_the_states_are_enumerated(tmp_path: Path) -> None:
    body = "  if (s->Timer < 2000) s->Timer++;"
    lines = told(tmp_path, body, "cover(Timer == 2000)")
    assert not any(line.startswith("slow") for line in lines)
    assert "states: 2,001 reachable, all enumerated" in lines


TIMERS = [
    "if (i->b) s->Timer++; if (s->Timer > 300) s->mode = 2;",
    "if (i->b) s->Timer++; else s->Timer = 0; if (s->Timer >= 300) s->mode = 2;",
    "s->Timer++; if (s->Timer > 300) s->mode = 1; if (s->mode == 1 && i->b) s->mode = 2;",
    "if (s->mode == 0) { s->Timer++; if (s->Timer > 300) s->mode = 2; } else if (i->b) { s->mode = 0; s->Timer = 0; }",
    "s->Timer++; if (s->Timer > (i->b ? 100 : 300)) s->mode = 2;",
]
STOPPED = [
    "if (!i->b) s->Timer = 0; else if (s->Timer < 65535) s->Timer++; if (s->Timer >= 300) s->mode = 2;",
    "if (i->b && s->Timer < 65535) s->Timer++; if (s->Timer > 300) s->mode = 2;",
]
NO_TIMERS = [
    ("s->Timer += i->b ? 1 : -1; if (s->Timer > 300) s->mode = 2;", "it counts down, too"),
    ("s->Timer++; if (s->Timer > 300) s->mode = 2; if (i->b) s->seen = s->Timer;", "another variable takes its value"),
    ("s->Timer++; if (s->Timer > 300) s->mode = 2; if (s->Timer % 7 == i->b) s->mode = 1;", "a remainder is compared"),
    ("s->Timer++; if (s->Timer > 300) s->mode = 2; if ((unsigned char)s->Timer > 9) s->mode = 1;", "its low byte is"),
    ("s->Timer++; if (s->Timer > 300) s->mode = 2; if (s->Timer >> 3 > 9) s->mode = 1;", "its high bits are"),
    (
        "s->Timer++; if (s->Timer > 300) s->mode = 2; if (s->Timer > s->seen) s->mode = 1;",
        "it is compared with another",
    ),
    ("if (s->Timer < 40000) s->Timer++; else s->Timer = 0; if (s->Timer > 300) s->mode = 2;", "its end starts it anew"),
    ("if (s->Timer < 40000) s->Timer++; else s->mode = 1; if (s->Timer > 300) s->mode = 2;", "its end sets the mode"),
]


def told_of_timer(folder: Path, body: str) -> list[str]:
    """What ``check`` says of the timer beside a counter that keeps the states from being enumerated."""
    lines = told(folder, f"  s->seen += i->b; {body}", "cover(mode == 2 && seen == 77)", given="--effort 0.01")
    return [line for line in lines if line.startswith("slow: s->Timer")]


@pytest.mark.slow
@pytest.mark.parametrize("body", [*TIMERS, *STOPPED])
def test_a_timer_is_told_with_its_limit_in_every_form(tmp_path: Path, body: str) -> None:
    (line,) = told_of_timer(tmp_path, body)
    stop = ", but for the stop of its own" if body in STOPPED else ""
    assert line == f"slow: s->Timer is not proved to stay below 65,535 and is compared with 300 at most{stop}"


BOUNDED = [
    "if (i->b) { if (++s->Timer >= 25) s->Timer = 0; }",
    "if (s->mode == 1) { s->Timer++; if (s->mode == 1 && s->Timer >= 25) s->Timer = 0; } else s->Timer = 0;"
    " s->mode = i->b;",
    "if (s->mode > 0 && s->Timer == 25) s->Timer = 0; else if (s->mode > 0) s->Timer++; s->mode = i->b && s->mode < 2;",
]
"""Counters that start anew, the second where the same condition is looked at twice."""


@pytest.mark.parametrize("body", BOUNDED)
def test_a_counter_that_starts_anew_is_not_said_to_count_on(
    tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where intervals tell nothing, as where very many conditions lead to the start: induction tells it."""
    monkeypatch.setattr(
        hints, "state_values", lambda system, stop: {var.name: whole(var.type.bits) for var in system.state}
    )
    write(tmp_path, f"  {body} if (s->Timer == 24) s->mode = 2;", "cover(mode == 2)")
    with fresh_names():
        subject = load(read_project(str(tmp_path)))
        assert find_slow(subject.system, subject.goals, Limits())
        assert not find_slow(subject.system, subject.goals, Limits(), choose("auto"))


def test_a_counter_has_the_values_that_are_proved(tmp_path: Path) -> None:
    """Beyond 2000 it only counts in a mode that there is not."""
    body = "if (s->Timer < 2000 || s->mode == 7) s->Timer++; s->mode = i->b != 0; if (s->Timer == 300) s->mode = 2;"
    (line,) = told_of_timer(tmp_path, body)
    assert line.startswith("slow: s->Timer may count to 2,000")


@pytest.mark.slow
@pytest.mark.parametrize(("body", "why"), NO_TIMERS)
def test_a_timer_whose_greater_values_matter_gets_no_limit(tmp_path: Path, body: str, why: str) -> None:
    assert not any("compared with 300 at most" in line for line in told_of_timer(tmp_path, body)), why


def test_a_thousand_conditions_in_a_row_are_read() -> None:
    """Each looks at the sums of those before it, and adds one where it holds."""
    word = ValueType("word", 32)
    counter, given = word.symbol("hints_counter"), word.symbol("hints_given")
    value = counter
    for number in range(1100):
        holds = And(Equals(value, BV(number, 32)), BVULT(BV(number, 32), given))
        value = Ite(holds, BVAdd(value, BV(1, 32)), value)
    state = StateVariable("hints_counter", word, BV(0, 32), value)
    system = TransitionSystem("many", (state,), (InputVariable("hints_given", word),))
    (slow,) = find_slow(system, (), Limits())
    assert slow.text.startswith("hints_counter may count to 1,100 and is compared with 1,099 at most")
