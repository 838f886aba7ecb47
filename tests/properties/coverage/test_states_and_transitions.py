"""States and transitions of variables as goals, and how a project or the command line asks for generated goals."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import MODELS, Outcome, chaincover, fresh_names, write_files
from small_programs import GOOD, program, project

from bmc.errors import InputRefused
from bmc.formulas.evaluate import compile_formulas
from bmc.system.simulation import Simulator
from chaincover.project.load import Request, load_request
from chaincover.subject import Subject
from properties.monitor import Monitor

ENUM = program(
    "if (i->b) s->mode = s->mode == OFF ? ON : s->mode == ON ? DIS : OFF; s->n = i->a == BIG; own.m++; own.m %= 3;",
    before="struct { unsigned char m; } own;",
    head="""\
#include <stdbool.h>
#define BIG 3
#define SMALL 1
typedef enum { OFF, ON = 4, DIS, LAST = DIS } t_mode;
typedef struct { int a; bool b; } t_in; typedef struct { t_mode mode; int n; bool list[2]; unsigned later; } t_st;
void init(t_st *s) { s->mode = OFF; s->n = 0; s->list[0] = s->list[1] = 0; }
""",
)


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    with fresh_names():
        yield


def subject(folder: Path, *criteria: str, code: str = ENUM, toml: str = "", **given: object) -> Subject:
    write_files(folder, {"c.c": code, "chaincover.toml": project(toml)})
    return load_request(Request(str(folder), cover=tuple(criteria), **given))  # type: ignore[arg-type]


def names(folder: Path, *criteria: str, **given: object) -> list[str]:
    return [goal.name for goal in subject(folder, *criteria, **given).goals]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("criterion", "toml", "values"),
    [
        ("states(mode)", "", ["OFF", "ON", "DIS"]),
        ("states( s->mode )", "", ["OFF", "ON", "DIS"]),
        ("states(b)", "", ["0", "1"]),
        ("states(list[1])", "", ["0", "1"]),
        ("states(n, -1..2)", "", ["-1", "0", "1", "2"]),
        ("states(n, SMALL..BIG)", "", ["1", "2", "3"]),
        ("states(n, {BIG, SMALL, 1, BIG + 4})", "", ["BIG", "SMALL", "7"]),
        ("states(mode, {5, OFF})", "", ["DIS", "OFF"]),
        ("states(own.m)", "[ranges]\nm = '0..2'", ["0", "1", "2"]),
        ("states(own.m)", "[ranges]\nm = ['SMALL', 2]", ["SMALL", "2"]),
        ("states(mode)", "[ranges]\nmode = '0..5'", ["OFF", "1", "2", "3", "ON", "DIS"]),
    ],
)
def test_values(criterion: str, toml: str, values: list[str], tmp_path: Path) -> None:
    """As the criterion lists them, else as the project does, else as the type does."""
    name = "".join(criterion.split(",")[0].rstrip(")").split())
    assert names(tmp_path, criterion, toml=toml) == [f"{name})={value}" for value in values]


def test_states_hold_in_the_state_before_a_step(tmp_path: Path) -> None:
    read = subject(tmp_path, "states(mode)", "states(b)")
    lengths = {goal.name: goal.length for goal in read.goals}
    assert lengths == {**{f"states(mode)={v}": 0 for v in ("OFF", "ON", "DIS")}, "states(b)=0": 1, "states(b)=1": 1}
    simulator = Simulator(read.system)
    run = simulator.run(simulator.initial(), [{"i->a": 0, "i->b": b} for b in (0, 1, 1)])
    covered = Monitor(read.goals).covered(run)
    assert list(covered.values()) == [[0, 1], [2], [3], [0], [1, 2]]


def test_an_unset_variable_has_no_value(tmp_path: Path) -> None:
    """Init leaves ``later`` open, and so it is 0 only once it has been set."""
    code = ENUM.replace("own.m++;", "if (s->n) s->later = 0;")
    [goal] = subject(tmp_path, "states(later, {0})", code=code).goals
    holds = compile_formulas([goal.antecedent])
    values = [{"s->later@0": 0, "s->later#defined@0": known} for known in (0, 1)]
    assert [bool(holds(v)[0]) for v in values] == [False, True]


def test_transitions_of_the_cruise_controller() -> None:
    """Each change of mode that the 18 written goals contain, and no other, can be made."""
    read = load_request(Request(str(MODELS / "cruise"), cover=("transitions(mode)",), select=("transitions*",)))
    modes = ("OFF", "ON", "DIS")
    assert [g.name for g in read.goals] == [f"transitions(mode)={u}->{v}" for u, v in itertools.permutations(modes, 2)]
    assert {(g.length, g.generated) for g in read.goals} == {(1, "transitions(mode)")}
    written = tomllib.loads((MODELS / "cruise" / "transitions.toml").read_text())["property"]
    changes = {tuple(m for part in p["text"].split("X(") for m in modes if f"mode == {m} " in part) for p in written}
    assert len(written) == 18
    simulator = Simulator(read.system)
    inputs = [v.name for v in read.system.inputs]
    reached, todo = set(), [simulator.initial()]
    seen = {json.dumps(simulator.initial())}
    monitor = Monitor(read.goals)
    while todo:
        state = todo.pop()
        for pressed in inputs:
            run = simulator.run(state, [{name: int(name == pressed) for name in inputs}])
            reached |= {name for name, steps in monitor.covered(run).items() if steps}
            if json.dumps(run.states[1]) not in seen:
                seen.add(json.dumps(run.states[1]))
                todo.append(run.states[1])
    assert len(seen) == 8
    assert reached == {f"transitions(mode)={u}->{v}" for u, v in (c for c in changes if len(c) == 2 and c[0] != c[1])}


def test_one_goal_for_what_is_asked_twice(tmp_path: Path) -> None:
    """Under the name that came first."""
    found = names(tmp_path, "states(mode)", "states(s->mode, {0, 2})", "branches()", "branches()")
    assert found[:4] == ["states(mode)=OFF", "states(mode)=ON", "states(mode)=DIS", "states(mode)=2"]
    assert len(found) == len(set(found))
    assert names(tmp_path, "states(s->mode)", "transitions(mode)")[3] == "transitions(s->mode)=OFF->ON"


@pytest.mark.parametrize(
    ("criterion", "message", "hint"),
    [
        ("states(moode)", "unknown variable 'moode'", "s->mode"),
        ("state(mode)", "unknown coverage criterion 'state(mode)'", "did you mean 'states'? criteria are states(x)"),
        ("lines()", "unknown coverage criterion 'lines()'", "criteria are states(x), transitions(x), pairs(x)"),
        ("mcdc", "'mcdc' is no coverage criterion", "write mcdc()"),
        ("branches(compute)", "'branches(compute)' is no coverage criterion", "write branches()"),
        ("states()", "'states()' is no coverage criterion", "write states(x) with the name of a variable"),
        ("states(a)", "it is not known which values of 'i->a' (int) are goals", "states(i->a, 0..5)"),
        ("transitions(a)", "it is not known which values of 'i->a' (int)", "transitions(i->a, {0, 1, 4})"),
        ("states(n, 0..64)", "'s->n' has 65 values, and at most 64 can be goals", "states(s->n, {0, 1, 4})"),
        ("transitions(n, 1..33)", "'s->n' has 1056 transitions, and at most 1000 can be goals", "list the values"),
        ("states(n, 0..10000000000)", "10000000000 does not fit 's->n'", ""),
        ("states(m, {1, 300})", "300 does not fit 'own.m'", ""),
        ("states(n, 4..1)", "the range of 's->n' is empty", ""),
        ("states(n, {HUGE})", "unknown name 'HUGE'", ""),
    ],
)
def test_refusals_name_the_place_and_the_next_step(criterion: str, message: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as caught:
        subject(tmp_path, "states(mode)", criterion)
    assert message in caught.value.message
    assert str(caught.value.where) == "--cover 2"
    assert hint in caught.value.hint
    toml = f"[coverage]\ncriteria = [\n  'states(mode)',\n  '{criterion}',\n]\n"
    with pytest.raises(InputRefused) as caught:
        subject(tmp_path, toml=toml)
    assert message in caught.value.message
    assert str(caught.value.where) == f"{tmp_path / 'chaincover.toml'}:7:4"


@pytest.mark.parametrize(("given", "message"), [("7", "must be a list of texts"), ("[1]", "must be a list of texts")])
def test_the_project_key_must_be_a_list_of_texts(given: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match=message):
        subject(tmp_path, toml=f"[coverage]\ncriteria = {given}")


def test_goals_are_selected_by_name_and_pattern(tmp_path: Path) -> None:
    """A name with brackets is no pattern that misses itself."""
    criteria = ("transitions(mode)", "states(list[0])", "branches()")
    assert names(tmp_path, *criteria, select=["states(list[0])=1"]) == ["states(list[0])=1"]
    assert names(tmp_path, *criteria, select=["transitions*->ON"]) == [
        f"transitions(mode)={v}->ON" for v in ("OFF", "DIS")
    ]
    left = names(tmp_path, *criteria, exclude=["branch:*", "transitions(*"])
    assert left == ["states(list[0])=0", "states(list[0])=1"]


def run(folder: Path, command: str, *options: str, code: str = GOOD, toml: str = "") -> Outcome:
    write_files(folder, {"c.c": code, "chaincover.toml": project(toml)})
    return chaincover(command, folder, *options)


def test_check_lists_generated_goals_beside_written_ones(tmp_path: Path) -> None:
    toml = "[coverage]\ncriteria = 'branches()'\n[[property]]\ntext = 'own: cover(n == 2)'"
    outcome = run(tmp_path, "check", "--cover", "states(b)", "--json", toml=toml)
    assert outcome.code == 0, outcome
    listed = [goal["name"] for goal in outcome.json["goals"]]
    assert listed == ["own", "branch:8:3=true", "branch:8:3=false", "states(b)=0", "states(b)=1"]


def test_a_chain_covers_what_was_asked_for(tmp_path: Path) -> None:
    """Two branches and three values of n: to n == 2 and once without counting."""
    options = ("--cover", "branches()", "--cover", "transitions(n, 0..2)", "--exclude", "*=2->*", "--exclude", "*=1->0")
    outcome = run(tmp_path, "generate", *options, "--exclude", "*=0->2", "--json", "--no-replay", "-q")
    assert outcome.code == 0, outcome
    hits = {hit["goal"] for hit in outcome.json["chain"]["hits"]}
    assert hits == {"branch:8:3=true", "branch:8:3=false", "transitions(n)=0->1", "transitions(n)=1->2"}
    assert len(outcome.json["chain"]["steps"]) == 3


def test_a_refused_criterion_ends_with_its_place_and_exit_code(tmp_path: Path) -> None:
    outcome = run(tmp_path, "check", "--cover", "states(q)")
    assert outcome.code == 3
    assert "--cover 1: unknown variable 'q'" in outcome.err
