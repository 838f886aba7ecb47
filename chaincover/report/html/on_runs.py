"""What became of each goal on each run that was judged: where it was covered, and what became of its requirement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bmc.errors import counted, listed
from bmc.records import dataclass
from chaincover.report.html.judged import RENUMBERED, Judgement, judgements
from chaincover.report.html.saved import Saved
from chaincover.report.html.summary import lost_in, place_of
from chaincover.report.html.trace import bar
from chaincover.verdicts import AS_PREDICTED, FAILED, HELD, OPEN_REQUIREMENTS

MOST_OPEN = 15
"""Goals of a judged run that stand in one table; of more those with little to say of them are a closed one. Twice as
many: a screen more before the waveform."""

FINAL = {True: ", and the final condition is reached", False: ", and the final condition is NOT reached", None: ""}
"""What is said of the end of a run."""


@dataclass(frozen=True)
class GoalOnRun:
    """What became of a goal on a judged run: where it was covered, how often, what became of its requirement, and of
    its deadline. ``step`` is where to look, None for nowhere; ``state`` is held, failed or open, '' without a verdict.
    """

    goal: str
    step: int | None
    covered: str
    times: int
    state: str
    ruling: str
    deadline: str


@dataclass(frozen=True)
class RunTold:
    """A judged run: its title, sentences on it, the name of its run in the waveform, and each goal.

    ``rest``: of many goals those that were covered as the chain says and coverage goals that are open, with how many
    there are of each verdict as ``rest_told``; all where all were covered as the chain says.
    """

    title: str
    sentences: tuple[str, ...]
    trace: str
    goals: tuple[GoalOnRun, ...]
    rest: tuple[GoalOnRun, ...]
    rest_told: str
    commands: tuple[str, ...]


def runs_told(saved: Saved) -> list[RunTold]:
    """What became of each goal on each judged run."""
    return [_told(judged) for judged in judgements(saved)]


def _aside(
    judged: Judgement, shown: Sequence[Mapping[str, Any]], plain: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Those of the goals ``shown`` of which little is to be said, where these are many or all are ``plain``."""
    if len(plain) < len(shown) <= MOST_OPEN:
        return []
    generated = {name for name, goal in judged.goals.items() if goal.get("generated")}
    lost = {own["name"] for own in lost_in(judged.data)}
    return [own for own in shown if own in plain or (own["name"] in generated and own["name"] not in lost)]


def _told(judged: Judgement) -> RunTold:
    data = judged.data
    title, trace = f"{place_of(data)} ({judged.name})", "" if judged.run is None else judged.run[0].name
    claims = any(own["claimed_at"] is not None for own in data["goals"])
    shown = [own for own in data["goals"] if own["asked"] or own["covered_at"] is not None]
    plain = [own for own in shown if _is_plain(own)]
    aside = _aside(judged, shown, plain)
    first = tuple(_goal_row(own, claims) for own in shown if own not in aside)
    rest = tuple(_goal_row(own, claims) for own in aside)
    counts = Counter("covered as the chain says" if own in plain else own["verdict"] for own in aside)
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    return RunTold(title, (*_sentences(data),), trace, first, rest, told, judged.commands)


def _is_plain(own: Mapping[str, Any]) -> bool:
    """Whether there is nothing to say of a goal: it was covered where the chain says, and nothing is open."""
    as_said = own["covered_at"] is not None and own["covered_at"] == own["claimed_at"] and own["how"] != AS_PREDICTED
    return as_said and own["requirement"] in ("", HELD) and not own["why"]


def _sentences(data: Mapping[str, Any]) -> Iterator[str]:
    """What was run and compared, and what could not be."""
    asked = [goal for goal in data["goals"] if goal["asked"]]
    covered = sum(goal["covered_at"] is not None for goal in asked)
    goals = f"{covered} of {counted(len(asked), 'goal')} covered{FINAL[data['final']]}"
    yield f"{counted(data['steps'], 'step')} of {data['chain']}: {goals}"
    compared = data.get("comparison")
    if compared:
        what = f"{counted(len(compared['signals']), 'signal')} at {counted(compared['steps'], 'step')}"
        yield f"Compared with the model: {what}, values that deviate: {compared['number']}"
    if data.get("renumbered"):
        yield f"{listed(data['renumbered'])} has {RENUMBERED}"
    for text in (*data["remarks"], *data["refused_steps"], *data["assertions_failed"]):
        yield f"{text[0].upper()}{text[1:]}"
    if data["goals_not_known"]:
        yield f"Goals of the chain that the program does not have: {listed(data['goals_not_known'])}"


def _goal_row(own: Mapping[str, Any], claims: bool) -> GoalOnRun:
    """A goal; ``claims``: the chain of the run says where goals are covered."""
    requirement, owed = own["requirement"], own.get("deadline")
    state = requirement if requirement in (HELD, FAILED) else "open" if requirement in OPEN_REQUIREMENTS else ""
    ruling = f"failed at step {own['failed_at']}" if own["failed_at"] is not None else requirement
    ruling += f": {own['why']}" if own["why"] else ""
    deadline = f"{owed['asked']}: {bar(own['name'], owed, owed['held']).told}" if owed else ""
    return GoalOnRun(own["name"], own["covered_at"], _covered(own, claims), own["times"], state, ruling, deadline)


def _covered(own: Mapping[str, Any], claims: bool) -> str:
    """Where a goal was covered, or why not, and what the chain says of it."""
    step, claimed, detail = own["covered_at"], own["claimed_at"], own["detail"]
    place = str(step) if step is not None else own["verdict"] + (f": {detail}" if detail else "")
    place += f", {AS_PREDICTED}" if own["how"] == AS_PREDICTED else ""
    if not claims or detail or (step is not None and step == claimed):
        return place
    return place + (" (the chain does not cover it)" if claimed is None else f" (the chain says {claimed})")
