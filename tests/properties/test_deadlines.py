"""Deadlines in consequents: the monitor that counts against each occurrence looked at by itself on a run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from spelled_conditions import drawn, goals_of, meaning, run_of

from bmc.system.memory import remembered
from bmc.system.transition import Run
from properties.goal import Goal, goal_length, violation
from properties.monitor import Monitor


def seen(goal: Goal, run: Run, by: Goal | None = None) -> dict[int, bool | None]:
    """The states of ``run`` in which an occurrence is decided, with the outcome; ``by`` tells what is remembered."""
    monitor, whole = Monitor([goal]), remembered(run, (by or goal).memory)
    return {step: monitor.judge(whole, goal.name, step) for step in monitor.covered(whole)[goal.name]}


@pytest.mark.parametrize("seed", range(4))
def test_the_first_decision_and_the_first_failure_are_those_of_single_occurrences(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    wanted = [drawn(source) for _ in range(25)]
    texts = [text for each in wanted for text in (each.text, f"cover({each.occurs.text})", f"cover({each.check.text})")]
    goals = goals_of(tmp_path, *texts)
    values = [source.choice((0, 0, 0, 1, 1, 2)) for _ in range(30)]
    run = run_of(values, [source.randrange(3) for _ in range(29)])
    for number, each in enumerate(wanted):
        goal, occurs, check = goals[3 * number : 3 * number + 3]
        known = max(0, goal_length([occurs.antecedent], {"a", "rise"}) - each.occurs.back)
        checked = max(0, goal_length([check.antecedent], {"a", "rise"}) - each.check.back)
        if goal.length:  # the deadline lies within the antecedent: it is unrolled
            continue
        each_alone = [each.decided(run, step, known, checked) for step in range(each.back, run.length + 1)]
        decisions = [one for one in each_alone if one is not None]
        assert goal.deadline is not None
        alone = goal.deadline.decisions(remembered(run, goal.memory), {"a", "rise"})
        assert {(one.after, one.held) for one in alone} == set(decisions), each.text
        found = seen(goal, run)
        first = min((step for step, _ in decisions), default=None)
        assert next(iter(found), None) == first, each.text
        if first is not None:
            assert found[first] == all(held for step, held in decisions if step == first), each.text
        failed = min((step for step, held in decisions if not held), default=None)
        if goal.consequent is not None:
            violated = seen(violation(goal, {"a", "rise"}), run, goal)
            assert next(iter(violated), None) == failed, each.text
            assert {step for step, held in decisions if not held} >= set(violated), each.text
        assert set(found.items()) <= set(decisions), each.text


def lasting(source: random.Random) -> str:
    """A requirement whose antecedent has a ``G``, that may be remembered or unrolled."""
    rest = source.choice(["", f"{meaning(source, 1).text} && ", f"{meaning(source, 2).text} && "])
    first = source.choice((0, 0, 1, 2, 6))
    always = f"G[{first},{first + source.randrange(1, 5)}](n == 1 || {meaning(source, 1).text})"
    consequent = meaning(source, 1).text
    return f"G({rest}X[{source.randrange(2)}]({always}) -> X[{source.randrange(9)}]({consequent}))"


@pytest.mark.parametrize("seed", range(3))
def test_what_lasts_in_an_antecedent_is_remembered_as_if_unrolled(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(seed)
    texts = [lasting(source) for _ in range(25)]
    run = run_of([source.choice((0, 1, 1, 1, 2)) for _ in range(90)], [source.randrange(3) for _ in range(89)])
    unrolled = goals_of(tmp_path, *texts)
    monkeypatch.setattr("properties.text.MANY", 2)
    compared = 0
    for short, goal in zip(unrolled, goals_of(tmp_path, *texts), strict=True):
        if not goal.memory:  # the antecedent's rest ends after it: it is unrolled
            continue
        expected, found = seen(short, run), seen(goal, run)
        if expected and found:
            later = next(iter(found)) - next(iter(expected))
            judged = {step - later: held for step, held in found.items() if step - later + short.length <= run.length}
            assert judged == expected, short.text
            compared += 1
        assert bool(found) >= bool(expected), short.text
    assert compared > 5


@pytest.mark.parametrize("seed", range(3))
def test_after_what_lasts_each_occurrence_is_decided_as_if_looked_at_by_itself(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    parts = [(source.choice(["n < 2", "a > 0", "n == 1 && a"]), source.choice("FG")) for _ in range(12)]
    asked = [(rest, word, 9 + source.randrange(3), 10 + source.randrange(12)) for rest, word in parts]
    texts = [f"G({rest} && G[0,9](n <= 1) -> {word}[{m},{m + n}](n == 0 || a == 1))" for rest, word, m, n in asked]
    values = [source.choice((0, 0, 0, 1, 1, 1, 1)) if source.random() < 0.97 else 2 for _ in range(80)]
    run = run_of(values, [source.randrange(3) for _ in range(79)])
    decided = 0
    for goal, (rest, word, m, n) in zip(goals_of(tmp_path, *texts), asked, strict=True):
        holds = {"n < 2": lambda k: values[k] < 2, "a > 0": lambda k: run.inputs[k]["a"] > 0}
        occurs = holds.get(rest, lambda k: values[k] == 1 and run.inputs[k]["a"] > 0)
        expected = {}
        for begin in range(run.length - 9):
            if occurs(begin) and all(value <= 1 for value in values[begin : begin + 10]):
                checks = range(begin + m, min(begin + m + n + 1, run.length))
                good = [values[k] == 0 or run.inputs[k]["a"] == 1 for k in checks]
                at = good.index(word == "F") if (word == "F") in good else len(good) - 1 if len(good) > n else None
                if at is not None:
                    expected[begin] = (begin + m + at, good[at])
        assert goal.deadline is not None
        alone = list(goal.deadline.decisions(remembered(run, goal.memory), {"a", "rise"}))
        assert {one.begin: (one.check, one.held) for one in alone} == expected, goal.text
        failed = {one.after for one in alone if not one.held}
        violated = set(seen(violation(goal, {"a", "rise"}), run, goal))
        assert violated <= failed, goal.text
        assert min(violated, default=None) == min(failed, default=None), goal.text
        decided += len(expected)
    assert decided > 50
