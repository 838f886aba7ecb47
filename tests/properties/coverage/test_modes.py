"""States, transitions and pairs of transitions of several variables and of expressions: those that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import MODELS, chaincover, fresh_names, write_files
from small_programs import program, project

from bmc.errors import InputRefused
from bmc.system.simulation import Simulator
from bmc.system.transition import Valuation
from chaincover.project.load import Request, load_request
from chaincover.subject import Subject
from properties import modes
from properties.monitor import Monitor

CODE = program("if (i->b) { s->n = s->n == 2 ? 0 : s->n + 1; s->m = s->n > 0 ? i->a : s->m; }")
TOML = "[ranges]\na = [0, 1]"


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    with fresh_names():
        yield


def loaded(folder: Path, criterion: str, code: str = CODE, toml: str = TOML) -> Subject:
    write_files(folder, {"c.c": code, "chaincover.toml": project(toml)})
    return load_request(Request(str(folder), cover=(criterion,)))


def names(found: Subject) -> set[str]:
    return {goal.name.removeprefix(f"{goal.generated}=") for goal in found.goals}


Value = Callable[[Valuation], str]


def all_runs(found: Subject, value: Value) -> tuple[set[str], set[str], set[str], set[str]]:
    """States, transitions and pairs that runs have, and the goals that these cover: (state, mode before) by search."""
    simulator, monitor = Simulator(found.system), Monitor(found.goals)
    given = [dict(zip(("i->a", "i->b"), (a, b), strict=True)) for a in (0, 1) for b in (0, 1)]
    first = simulator.initial()
    todo, known = [(first, "")], {(tuple(first.items()), "")}
    states, changes, twice, covered = set[str](), set[str](), set[str](), set[str]()
    while todo:
        state, before = todo.pop()
        states.add(value(state))
        for inputs in given:
            run = simulator.run(state, [inputs])
            covered |= {name[len(found.goals[0].generated) + 1 :] for name, k in monitor.covered(run).items() if k}
            here, there = value(state), value(run.states[1])
            if here != there:
                changes.add(f"{here}->{there}")
                twice |= {f"{before}->{here}->{there}"} if before else set()
            after = (run.states[1], here if here != there else before)
            key = (tuple(after[0].items()), after[1])
            if key not in known:
                known.add(key)
                todo.append(after)
    return states, changes, twice, covered


BOTH: Value = lambda state: f"({state['s->n']},{state['s->m']})"  # noqa: E731
MANY: Value = lambda state: str(int(state["s->n"] + state["s->m"] > 1))  # noqa: E731


@pytest.mark.parametrize("kind", ["states", "transitions", "pairs"])
@pytest.mark.parametrize(("text", "value"), [("(n, m)", BOTH), ("n + m > 1", MANY), ("(n) + s->m > 1", MANY)])
def test_there_are_those_that_runs_have(kind: str, text: str, value: Value, tmp_path: Path) -> None:
    found = loaded(tmp_path, f"{kind}({text})")
    states, changes, twice, covered = all_runs(found, value)
    right = {"states": states, "transitions": changes, "pairs": twice}[kind]
    assert names(found) == covered == right
    assert {goal.generated for goal in found.goals} == {f"{kind}({''.join(text.split())})"}


@pytest.mark.parametrize("kind", ["states", "transitions", "pairs"])
def test_where_states_are_not_enumerated_there_are_all_that_may_be(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = names(loaded(tmp_path, f"{kind}((n, m))"))
    monkeypatch.setattr(modes, "WORK", 0)
    possible = names(loaded(tmp_path, f"{kind}((n, m))"))
    assert met <= possible
    assert kind == "states" or met != possible
    assert all(a != b for name in possible for a, b in pairwise(name.split("->")))


def test_the_transitions_of_the_paper(tmp_path: Path) -> None:
    """All that changes the state, with one input in each step: 18 in Fig. 2, and 22 steps for all of them."""
    found = chaincover(
        *("generate", MODELS / "cruise", "--cover", "transitions((mode, speed, enable))", "--goal", "transitions*"),
        *("--final", "s->mode == OFF && s->speed == 0 && !s->enable", "-o", tmp_path, "--no-native", "--json"),
    ).json
    assert (len(found["goals"]), found["bounds"]["length"], found["bounds"]["minimal"]) == (18, 22, True)


def test_a_variable_of_unknown_values_has_those_that_are_found(tmp_path: Path) -> None:
    assert names(loaded(tmp_path, "states(n)")) == {"0", "1", "2"}
    assert names(loaded(tmp_path, "states((n > 1, n == 0))")) == {"(0,0)", "(0,1)", "(1,0)"}


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        ("states((n, q))", "unknown name 'q'"),
        ("states((n, a))", "too many"),
        ("pairs((n, b))", "reads an input"),
        ("pairs(n, 0..3)", "lists values"),
        ("pairs(n, m)", "'m' in pairs(n, m) is a variable"),
        ("transitions(n, m)", "'m' in transitions(n, m) is a variable"),
        ("states(n + )", "cannot read the expression 'n +'"),
        ("states((n, s))", "a pointer is no value in 's'"),
    ],
)
def test_what_is_refused(criterion: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as caught:
        loaded(tmp_path, criterion, toml="")
    assert message in caught.value.message
    assert str(caught.value.where) == "--cover 1"
    assert caught.value.hint


@pytest.mark.parametrize("kind", ["states", "transitions", "pairs"])
def test_what_is_proposed_can_be_asked_for(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as caught:
        loaded(tmp_path, f"{kind}(n, m)", toml="")
    assert caught.value.hint == f"for several variables together write {kind}((n, m))"
    with pytest.raises(InputRefused) as caught:
        loaded(tmp_path, f"{kind}()", toml=f"{TOML}\nn = [0, 1, 2]")
    for name in caught.value.hint.rpartition("such as ")[2].split(", "):
        assert loaded(tmp_path, f"{kind}({name})", toml=f"{TOML}\nn = [0, 1, 2]").goals


def test_modes_of_inputs_are_those_that_they_may_have(tmp_path: Path) -> None:
    assert len(names(loaded(tmp_path, "states((n, a, b))"))) == 12


OUTPUT = """
typedef struct { int cs; double f; } O; typedef struct { int n; } M;
void init(M *s) { s->n = 0; }
void tick(int go, O *o, M *s) { if (go) s->n = (s->n + 1) % 3; %s o->cs = s->n * 10; o->f = s->n / 2.0; }
"""
OF_OUTPUT = (
    '[functions]\ninit = ["init"]\nstep = "tick"\n[interface]\ninput = ["go"]\noutput = ["o->*"]\nstate = ["s->*"]'
)


def of_output(folder: Path, criterion: str, guard: str = "") -> set[str]:
    """The goals of ``criterion`` where init leaves the outputs open, and the step writes them (under a ``guard``)."""
    toml = f'name = "c"\n[sources]\nfiles = ["c.c"]\n{OF_OUTPUT}\n[ranges]\ngo = [0, 1]'
    write_files(folder, {"c.c": OUTPUT.replace("%s", guard), "chaincover.toml": toml})
    return names(load_request(Request(str(folder), cover=(criterion,))))


@pytest.mark.parametrize("guard", ["", "if (go)"])
@pytest.mark.parametrize("text", ["cs", "(cs)", "o->cs", " ( (o->cs) )", "o->cs + 0"])
def test_an_output_that_init_leaves_open_has_the_values_that_steps_give_it(
    text: str, guard: str, tmp_path: Path
) -> None:
    assert of_output(tmp_path, f"states({text})", guard) == {"0", "10", "20"}
    assert of_output(tmp_path, f"transitions({text})", guard) == {"0->10", "10->20", "20->0"}
    assert of_output(tmp_path, f"pairs({text})", guard) == {"0->10->20", "10->20->0", "20->0->10"}


def test_several_outputs_that_init_leaves_open(tmp_path: Path) -> None:
    assert of_output(tmp_path, "transitions((n, cs))") == {"(0,0)->(1,10)", "(1,10)->(2,20)", "(2,20)->(0,0)"}
    assert of_output(tmp_path, "states((cs, f))") == {"(0,0.0)", "(10,0.5)", "(20,1.0)"}


@pytest.mark.parametrize("text", ["f", "(f)", "f * 1.0"])
def test_the_values_of_a_float_are_found_out(text: str, tmp_path: Path) -> None:
    assert of_output(tmp_path, f"states({text})") == {"0.0", "0.5", "1.0"}
    assert of_output(tmp_path, f"transitions({text})") == {"0.0->0.5", "0.5->1.0", "1.0->0.0"}


def test_values_are_listed_behind_an_expression(tmp_path: Path) -> None:
    assert of_output(tmp_path, "transitions(s->n * 100 + cs, {0, 110, 7})") == {
        "0->110",
        "0->7",
        "110->0",
        "110->7",
        "7->0",
        "7->110",
    }
    assert of_output(tmp_path, "states((cs), 9..11)") == {"9", "10", "11"}
    assert of_output(tmp_path, "states(f * 2.0, {0.0, 1.0})") == {"0.0", "1.0"}


def test_ranges_of_the_project_count_where_states_are_too_many(tmp_path: Path) -> None:
    """All values are possible as far as intervals tell, and the states are too many."""
    code = program("s->m = (int)((s->m * 69069u + 5u + (unsigned)i->a) & 0xffffffu);")
    with pytest.raises(InputRefused) as refused:
        loaded(tmp_path, "states((m, n))", code)
    assert "give [ranges]" in refused.value.hint
    found = loaded(tmp_path, "states((m, n))", code, TOML + '\nm = "0..4"')
    assert names(found) == {f"({m},0)" for m in range(5)}
