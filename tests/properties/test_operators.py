"""Operators of text properties against their meaning, spelled out on a run."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import fresh_names
from spelled_conditions import SOURCE, goals_of, meaning, run_of

from bmc.errors import InputRefused
from bmc.limits import STEPS
from bmc.system.memory import remembered
from bmc.system.transition import Run
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from properties.goal import Goal
from properties.monitor import Monitor

VALUES, INPUTS = [0, 1, 1, 3, 2, 2, 0], [5, 5, 0, 1, 1, 0]
MEANT = [
    # property, J, steps of the run from which on it is covered
    ("cover(X[2](n == 3))", 2, [1]),
    ("cover(X[0](n) == 3)", 0, [3]),
    ("cover(X[DEADLINE + 1](n) == 3)", 3, [0]),
    ("cover(n == 1 && F[0,2](n == 3))", 2, [1, 2]),
    ("cover(n == 1 && F[2,2](n == 3))", 2, [1]),
    ("cover(F [ 1 , DEADLINE ] (n == 2))", 2, [2, 3, 4]),
    ("cover(G[0,1](n == 1))", 1, [1]),
    ("cover(G[0,1](a == 5))", 2, [0]),
    ("cover(G[1,2](n >= 2))", 2, [2, 3]),
    ("cover(F[0,1](G[0,1](n == 2)))", 2, [3, 4]),
    ("cover(prev(n) == 1 && n == 3)", 1, [2]),
    ("cover(n == prev(n))", 1, [1, 4]),
    ("cover(prev(prev(n)) == 1 && n == 2)", 2, [2]),
    ("cover(prev(a) == 0 && a == 1)", 2, [2]),
    ("cover(prev(X(n)) == 3)", 0, [3]),
    ("cover(X(prev(n)) == 3 && prev(X(a)) == 1)", 1, [3]),
    ("cover(rise(X(n == 1)))", 1, [0]),
    ("cover(fall(X(n == 1)))", 1, [2]),
    ("cover(changed(X(n)))", 1, [0, 2, 3, 5]),
    ("cover(changed(X(n == LIMIT)))", 1, [2, 3]),
    ("cover(changed(X(half(n))) && !a)", 1, [2, 5]),
    ("cover(changed(X[2](n)))", 2, [1, 2, 4]),
    ("cover(prev(prev(X(n))) == 3)", 1, [3]),
    ("cover(prev(X(n) == a))", 1, [5]),
    ("cover(prev(F[X(n)]))", 1, [1]),
    ("cover(prev(half(X(n))) == 1)", 0, [3, 4, 5]),
    ("cover(half(prev(a)) == 2)", 1, [0, 1]),
    ("cover(prev(LIMIT == 3) && n == 0)", 1, [5]),
    ("cover(true since prev(LIMIT == 3))", 0, [1, 2, 3, 4, 5, 6]),
    ("cover(true since rise(prev(X(n))))", 0, [1, 2, 3, 4, 5, 6]),
    ("cover(n since prev(X(n) == 0))", 0, [0, 1, 2, 3, 4, 5, 6]),
    ("cover(X(prev(n)) == 3)", 1, [3]),
    ("cover(rise(n == 1))", 1, [0]),
    ("cover(fall(n == 1))", 1, [2]),
    ("cover(fall(n))", 1, [5]),
    ("cover(changed(n))", 1, [0, 2, 3, 5]),
    ("cover(changed(a))", 2, [1, 2, 4]),
    ("cover(changed(n) && F[0,2](rise(a == 1)))", 4, [0, 2]),
    # a word that is the program's, for it stands before no bracket, or before an index alone
    ("cover(F[1] == 1 && since == 3)", 0, [3]),
    ("cover(rise == 1 && X(rise))", 2, [0, 3]),
    ("cover(F[0,1](F[1]))", 1, [0, 1, 2, 3]),
    ("cover(since == 3 && (since > 0))", 0, [3]),
    ("cover(n > 0 since n == 3)", 0, [3, 4, 5]),
    ("cover(n since (n == 1 && a == 5))", 1, [1, 2, 3, 4, 5]),
    ("cover((n != 2 since n == 1) && X(n) == 2)", 1, [3]),
    ("cover(!(since > 1 since since == 3) && n)", 0, [1, 2]),
    ("cover(n since rise(n == 3))", 0, [3, 4, 5]),
    ("cover(true since (true since (n == 1 && prev(n) == 1)))", 0, [2, 3, 4, 5, 6]),
    ("cover(prev(n since n == 3) && !n)", 1, [5]),
]


def covered(goal: Goal, run: Run) -> list[int]:
    return Monitor([goal]).covered(remembered(run, goal.memory))[goal.name]


@pytest.fixture(scope="module")
def goals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Goal]:
    texts = [text for text, *_ in MEANT]
    return dict(zip(texts, goals_of(tmp_path_factory.mktemp("operators"), *texts), strict=True))


@pytest.mark.parametrize(("text", "length", "steps"), MEANT, ids=[meant[0] for meant in MEANT])
def test_what_operators_mean(goals: dict[str, Goal], text: str, length: int, steps: list[int]) -> None:
    assert goals[text].length == length
    assert covered(goals[text], run_of(VALUES, INPUTS)) == steps


def test_a_consequent_looks_back_from_the_same_step(tmp_path: Path) -> None:
    (goal,) = goals_of(tmp_path, "G(n == 1 -> prev(n) == 0 || X(changed(n)))")
    monitor, run = Monitor([goal]), run_of(VALUES, INPUTS)
    assert goal.length == 2
    assert {k: monitor.judge(run, goal.name, k) for k in monitor.covered(run)[goal.name]} == {0: True, 1: True}


@pytest.mark.parametrize("seed", range(4))
def test_random_conditions_mean_what_is_spelled_out(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    meanings = [meaning(source, 3) for _ in range(25)]
    values = [source.randrange(3) for _ in range(19)]
    run = run_of(values, [source.randrange(3) for _ in range(18)])
    for goal, meant in zip(goals_of(tmp_path, *(f"cover({m.text})" for m in meanings)), meanings, strict=True):
        assert goal.length == meant.last + meant.back, meant.text
        steps = range(run.length - goal.length + 1)
        expected = [k for k in steps if meant.holds(run, k + meant.back)]
        assert covered(goal, run) == expected, meant.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cover(F(n == 1))", r"F with no numbers in brackets: write F\[m,n\]\(e\), such as F\[0,10\]\(\.\.\.\)"),
        ("G(n == 1 -> G(n))", r"G with no numbers in brackets"),
        ("cover(F[3](n))", r"F with 1 numbers? in brackets"),
        ("cover(X[1,2](n))", r"X with 2 numbers in brackets"),
        ("cover(F[3,1](n))", r"F\[3,1\] ends before it begins.*swap the bounds: F\[1,3\]\(\.\.\.\)"),
        ("cover(F[-1,3](n))", r"F\[-1, 3\]: the numbers of steps are not 0 or more, and rising"),
        ("G(a -> F<=50(n))", r"'F<=50\(\.\.\.\)' is no operator.*did you mean F\[0,50\]\(\.\.\.\)\?"),
        ("G(a -> G < 2s (n))", r"'G<2s\(\.\.\.\)' is no operator.*did you mean G\[0,2s\]\(\.\.\.\)\?"),
        ("cover(X[-1](n))", r"X\[-1\]: the numbers of steps are not 0 or more.*prev\(e\) looks back"),
        ("cover(X[n](n))", r"constant"),
        ("cover(X[200000](n))", r"more than 100,000 steps looked at by the operators of one property"),
        ("cover(prev(n, a))", r"prev takes one condition"),
        ("cover(prev())", r"prev"),
        ("cover(XX(n))", r"'XX' is called but not defined.*operators are X\(e\) and X\[n\]\(e\), F\[m,n\]\(e\)"),
        ("cover(eventually(n))", r"'eventually' is called but not defined.*operators are"),
        ("cover(n since a && n)", r"'&&' beside since.*\(a since b\) && c"),
        ("cover(n since a since n)", r"'since' beside since"),
        ("cover(n since X(n))", r"a condition of since looks at a later step.*leave out X, F and G"),
        ("cover(n since F[0,2](n))", r"a condition of since looks at a later step"),
        ("cover(prev(n = 1))", r"the condition changes 'n'"),
        ("cover(prev[2](n))", r"prev takes no numbers: write prev\(prev\(e\)\)"),
        ("cover(rise[2](n))", r"rise takes no numbers: write rise\(e\)"),
        ("cover(F[0,3] n)", r"put brackets around what F applies to: F\[0,3\]\(e\)"),
        ("G(a -> X !n)", r"put brackets around what X applies to: X\(e\)"),
        ("G(a until n -> X(n))", r"'until' is no operator in 'a until n'.*operators are X\(e\)"),
        ("cover(a && eventually n)", r"no operator stands between 'eventually' and 'n'.*operators are"),
        ("G(a -> F[0,inf](n))", r"'inf' is no number, and F needs one: a deadline is by some step"),
        ("cover(n == `1`)", r"the backquote after 'n == ' quotes no name"),
        ("cover(n == 1``)", r"the backquote after 'n == 1' quotes no name"),
        ("cover(`n == 1)", r"the backquote at the beginning quotes no name"),
        (
            "cover(BEFORE(n) == 1)",
            r"a macro holds the operator prev, and operators are not seen inside macros.*prev\(e\)",
        ),
        ("cover(wwwwww)", r"unknown name 'wwwwww'.*known names are (?!.*FILE_H)"),
        ("cover(STAYS)", r"a macro holds the operator G, and operators are not seen inside macros"),
        ("G( -> X(n))", r"the antecedent is missing in 'G\(-> X\(n\)\)'"),
        ("G(n /* and */ => )", r"the consequent is missing"),
        ("my req 1: G(n -> X(n))", r"'my req 1' is no id of a property.*my_req_1"),
        ("4: cover(n)", r"'4' is no id of a property.*p_4"),
    ],
)
def test_what_is_not_written_like_an_operator(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as caught:
        goals_of(tmp_path, text, before="#define BEFORE(e) (prev(e))\n#define STAYS G[0,2](n)\n#define FILE_H\n")

    told = f"{caught.value.message} {caught.value.hint}"
    assert re.search(message, told), told
    assert "chaincover_operator" not in told


def test_the_steps_of_an_operator_count_at_each_step_of_the_one_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("properties.text.STEPS", replace(STEPS, most=1_000))
    assert goals_of(tmp_path, "cover(F[0,20](F[0,20](n)))")
    with pytest.raises(InputRefused, match="more than 1,000 steps looked at"):
        goals_of(tmp_path, "cover(F[0,100](F[0,100](n)))")


def test_a_function_called_like_an_operator_is_quoted(tmp_path: Path) -> None:
    before = "#define prev(x) ((x) == 3)\n"
    operator, own = goals_of(tmp_path, "cover(prev(n) == 3)", "cover(`prev`(n))", before=before)
    found = Monitor([operator, own]).covered(run_of(VALUES, INPUTS))
    assert (operator.length, own.length) == (1, 0)
    assert found == {operator.name: [3], own.name: [3]}


def test_conditions_of_one_step_have_no_operators(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(SOURCE)
    for final in ("X(n) == 1", "prev(n) == 1", "changed(n)", "n since n == 1"):
        with fresh_names(), pytest.raises(InputRefused, match=r"looks at another step"):
            load(read_project(str(tmp_path / "c.c")), ["cover(n)"], final)
