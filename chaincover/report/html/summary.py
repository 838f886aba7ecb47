"""The first parts of the report: the verdict in one sentence, what was tested by what, and the figures at a glance."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from bmc.errors import FEW, counted, listed
from bmc.records import dataclass
from chaincover.chain import CAN_FAIL, COVERED, NEVER_VIOLATED, NO_WAY_TO_FINAL, UNDECIDED, UNREACHABLE
from chaincover.report.html.saved import Saved, SavedChain, as_text, contradictions
from chaincover.verdicts import MISSED

WRITTEN = "written"
"""The criterion of goals that the project states itself."""

GOOD, BAD, OPEN = "good", "bad", "open"
"""Classes of a tile: nothing to do, a finding, not decided or not covered."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure with its title, a line that says more, and whether it is good, bad or open ('': neither)."""

    title: str
    figure: str
    more: str = ""
    state: str = ""


def goals_in(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The goals of a chain's document, or of the summary of several chains, which names them otherwise."""
    if "verdicts" in document:
        return [{"name": row["goal"], **row} for row in document["verdicts"]]
    return [*document["goals"]]


_DEADLINE = re.compile(r"\b[FG]\s*\[")


def has_deadline(goal: Mapping[str, Any]) -> bool:
    """Whether the property of a goal asks for something within a time or throughout it."""
    return _DEADLINE.search(goal.get("property", "")) is not None


def goals_of(saved: Saved) -> list[Mapping[str, Any]]:
    """Each goal once, as the summary of several chains or the first chain has it, with what only chains say of it."""
    rows = {goal["name"]: goal for chain in saved.chains for goal in goals_in(chain.data)}
    if saved.summary is None:
        return [*rows.values()]
    return [{**rows.get(goal["name"], {}), **goal} for goal in goals_in(saved.summary)]


def rulings_of(saved: Saved) -> list[Mapping[str, Any]]:
    """What is said of each requirement."""
    for document in (saved.summary, *(chain.data for chain in saved.chains)):
        if document is not None and document.get("requirements"):
            return [*document["requirements"]["rulings"]]
    return []


def vacuous(saved: Saved) -> set[str]:
    """The requirements that no run violates because none covers the antecedent."""
    unreachable = {goal["name"] for goal in goals_of(saved) if goal["verdict"] == UNREACHABLE}
    return {each["goal"] for each in rulings_of(saved) if each["ruling"] == NEVER_VIOLATED} & unreachable


def failed_on_runs(saved: Saved) -> dict[str, list[str]]:
    """By requirement the judged runs on which it failed: ``rec/bad.csv at step 50``."""
    found: dict[str, list[str]] = {}
    for _, judged in saved.judged:
        for goal in judged["goals"]:
            if goal["failed_at"] is not None:
                found.setdefault(goal["name"], []).append(f"{place_of(judged)} at step {goal['failed_at']}")
    return found


def _failed(judged: Mapping[str, Any]) -> set[str]:
    """The requirements that failed on a judged run."""
    return {goal["name"] for goal in judged["goals"] if goal["failed_at"] is not None}


def lost_in(judged: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The goals that the chain covers, and of which the judged run shows that it does not."""
    missed = (goal for goal in judged["goals"] if goal["verdict"] == MISSED and not goal.get("detail"))
    return [goal for goal in missed if goal.get("asked") and goal.get("claimed_at") is not None]


def deviates(judged: Mapping[str, Any]) -> bool:
    """Whether a value of a judged run is not as expected, or it disagrees otherwise."""
    return bool(judged.get("disagreements")) or (judged.get("comparison") or {}).get("first") is not None


def place_of(judged: Mapping[str, Any]) -> str:
    """What was judged, without the version of its compiler, and which sources are not those of the chain."""
    if judged.get("against"):
        return f"{PurePath(judged['against']).name} (another build)"
    changed = judged.get("changed_sources")
    return str(judged["on"]).split(" (")[0] + (f" with another {listed(changed)}" if changed else "")


def _own_sources(judged: Mapping[str, Any]) -> str:
    """That a replay was one of the sources of the chain, behind where it was; '' else, and for recordings."""
    other = judged.get("comparison") or judged.get("against") or judged.get("changed_sources")
    return "" if other or judged["on"] == "model" else ", the chain's own sources"


def _failed_besides(saved: Saved, told: set[str]) -> tuple[int, str]:
    """How many requirements but those ``told`` failed on judged runs, each counted once, and on which runs they did."""
    found = [(_failed(judged) - told, place_of(judged)) for _, judged in saved.judged]
    places = dict.fromkeys(on for names, on in found if names)
    number = len({name for names, _ in found for name in names})
    which = "failed on" if 1 in (number, len(places)) else "failed, on one or more of"
    return number, f"{which} {listed([*places])}"


def is_aside(goal: Mapping[str, Any]) -> bool:
    """Whether a goal was generated and is proved unreachable: it is told, and does not count as missed."""
    return bool(goal.get("generated")) and goal["verdict"] == UNREACHABLE


def no_way_is_proved(saved: Saved, goal: Mapping[str, Any]) -> bool:
    """Whether it is proved that no run goes from the goal on to the final condition, however long."""
    within_k = (saved.first.get("settings") or {}).get("bound") is not None
    return goal["verdict"] == NO_WAY_TO_FINAL and not (within_k and "within K" in goal.get("detail", ""))


def hits_of(saved: Saved) -> dict[str, tuple[SavedChain, int]]:
    """For each covered goal the chain that covers it first, and the step."""
    found: dict[str, tuple[SavedChain, int]] = {}
    for chain in saved.chains:
        for hit in (chain.data.get("chain") or {}).get("hits", ()):
            found.setdefault(hit["goal"], (chain, hit["step"]))
    return found


def seconds(steps: int, period: object) -> str:
    """So many steps as time, '' where the project does not say how long one lasts."""
    if not isinstance(period, int | float) or not period:
        return ""
    return f"{steps * period:.9g} s"


def in_time(steps: int, period: object) -> str:
    """``71 steps (7.1 s)``."""
    time = seconds(steps, period)
    return counted(steps, "step") + (f" ({time})" if time else "")


def name_of(saved: Saved) -> str:
    """The controller's name, or of what the report is else."""
    first = saved.first
    controller = first.get("controller")
    if isinstance(controller, dict):
        return str(controller.get("name", "controller"))
    if controller:
        return str(controller)
    return str(saved.judged[0][1].get("controller", "run")) if saved.judged else "results"


def length_of(saved: Saved) -> int | None:
    """Steps of all chains, None without one."""
    own = [chain.data["chain"]["length"] for chain in saved.chains if chain.data.get("chain")]
    return sum(own) if own else None


def bounds_of(saved: Saved) -> tuple[int, bool]:
    """What no such chains are shorter than, and whether they are proved minimal."""
    if saved.summary is not None:
        return int(saved.summary.get("lower") or 0), bool(saved.summary.get("minimal"))
    bounds = saved.first["bounds"]
    return int(bounds["lower"]), bool(bounds["minimal"])


def sentence(saved: Saved) -> tuple[str, str]:
    """The verdict in one sentence, and whether it is good, bad or open."""
    goals = goals_of(saved)
    if not goals:
        return _judged_sentence(saved)
    covered = sum(goal["verdict"] == COVERED for goal in goals)
    aside = sum(map(is_aside, goals))
    wrong = _wrong(saved)
    whose = f"{covered} of {len(goals) - aside} goals"
    whose += f" ({aside} more, generated, {'is' if aside == 1 else 'are'} proved unreachable)" if aside else ""
    parts = [*wrong, *_cannot_be_covered(goals), _chains_cover(saved, whose)]
    if saved.first.get("stopped_by"):
        parts.append(f"the run was stopped by {saved.first['stopped_by']}")
    if any(True for chain in saved.chains for _ in contradictions(chain.file, chain.data)):
        parts.insert(0, "the result is damaged: see what is missing")
        covered = -1
    settled = GOOD if covered + aside == len(goals) else OPEN
    state = BAD if wrong else settled
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + ".", state


def _lost_told(judged: Mapping[str, Any]) -> str:
    return f"{counted(len(lost_in(judged)), 'goal')} lost on {place_of(judged)}"


def _wrong(saved: Saved) -> list[str]:
    """What is wrong with the controller: how many requirements can fail, assertions failed in chains, and further
    requirements failed on judged runs."""
    can_fail = {ruling["goal"] for ruling in rulings_of(saved) if ruling["ruling"] == CAN_FAIL}
    failed = sum(len((chain.data.get("chain") or {}).get("violations", ())) for chain in saved.chains)
    more, on = _failed_besides(saved, can_fail)
    told = (
        (len(can_fail), "requirement", "can fail"),
        (failed, "assertion", "failed"),
        (more, "more requirement" if can_fail else "requirement", on),
    )
    parts = [f"{counted(number, what)} {how}" for number, what, how in told if number]
    parts += map(_lost_told, (judged for _, judged in saved.judged if lost_in(judged)))
    others = [place_of(judged) for _, judged in saved.judged if deviates(judged) and place_of(judged) not in on]
    verb = "deviates" if len(others) == 1 else "deviate"
    return [*parts, *([f"{listed(others)} {verb} from the model"] if others else [])]


def _cannot_be_covered(goals: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What is told of goals that are missed because no run covers them, or none that was found goes on to the end."""
    for verdict, is_so in ((UNREACHABLE, "unreachable"), (NO_WAY_TO_FINAL, "without a way to the final condition")):
        names = [goal["name"] for goal in goals if goal["verdict"] == verdict and not is_aside(goal)]
        if names:
            named = f": {listed(names)}" if len(names) <= FEW else ""
            yield f"{counted(len(names), 'goal')} {'is' if len(names) == 1 else 'are'} {is_so}{named}"


def _chains_cover(saved: Saved, goals: str) -> str:
    """What is told of the chains, which cover these ``goals``, with their length and its bound."""
    length = length_of(saved)
    if length is None:
        there = all("chain" in chain.data for chain in saved.chains)
        return "there is no chain" if there else f"the steps of the chain that covers {goals} are missing"
    lower, minimal = bounds_of(saved)
    told, verb = ("one chain", "covers") if len(saved.chains) == 1 else (counted(len(saved.chains), "chain"), "cover")
    bound = "proved minimal" if minimal else f"no shorter than {lower} proved" if lower else "no bound proved"
    return f"{told} of {in_time(length, period_of(saved))} {verb} {goals}, {bound}"


def _judged_sentence(saved: Saved) -> tuple[str, str]:
    """The verdict of a report without a chain."""
    if not saved.judged:
        return "No chain and no judgement is in these files.", OPEN
    judged = saved.judged[0][1]
    covered = sum(goal["verdict"] == COVERED for goal in judged["goals"])
    failed = len(_failed(judged))
    text = f"On {judged['on']} {covered} of {counted(len(judged['goals']), 'goal')} were covered"
    text += f", {counted(failed, 'requirement')} failed." if failed else "."
    return text, BAD if judged["exit_code"] == 1 else GOOD if judged["exit_code"] == 0 else OPEN


def period_of(saved: Saved) -> object:
    """Seconds of a step, None where the project does not say."""
    controller = saved.chains[0].data.get("controller") if saved.chains else None
    return controller.get("period") if isinstance(controller, dict) else None


def command(saved: Saved, name: str, file: str, *options: str, goal: str = "") -> str:
    """The command ``name`` for a ``file`` of the result, with project and folder as they were typed for the run.

    Of the properties that were typed only that of the ``goal`` is told, where it is among them.
    """
    run = next((chain.run for chain in saved.chains if chain.run and chain.run.get("asked")), None)
    if run is None:
        return " ".join(["chaincover", name, "PROJECT", file, *options])
    project, *given = run["asked"]
    pairs = [*zip(given[::2], given[1::2], strict=True)]
    own = [pair for pair in pairs if pair[0] == "--property" and pair[1].partition(":")[0].strip() == goal]
    words = [word for pair in pairs if not own or pair[0] != "--property" or pair in own for word in pair]
    return shlex.join(["chaincover", name, project, str(PurePath(run["folder"], file)), *words, *options])


def tiles(saved: Saved) -> list[Tile]:
    """The figures at a glance."""
    return [*_goal_tiles(saved), *_requirement_tiles(saved), *_chain_tiles(saved), *_run_tiles(saved)]


def _goal_tiles(saved: Saved) -> Iterator[Tile]:
    """By criterion how many goals are covered: of written ones all count, of generated ones those that can be."""
    groups: dict[str, Counter[str]] = {}
    no_way: Counter[str] = Counter()
    for goal in goals_of(saved):
        criterion = goal.get("generated") or WRITTEN
        groups.setdefault(criterion, Counter())[goal["verdict"]] += 1
        no_way[criterion] += no_way_is_proved(saved, goal)
    for criterion, verdicts in groups.items():
        infeasible = verdicts[UNREACHABLE]
        feasible = verdicts.total() - (0 if criterion == WRITTEN else infeasible)
        share = f"{100 * verdicts[COVERED] // feasible} %" if feasible else "none feasible"
        more = f"{verdicts[COVERED]} of {feasible} covered" + (
            f", {infeasible} proved unreachable" if infeasible else ""
        )
        more += f", {no_way[criterion]} reached, but proved to have no way to the final condition" * bool(
            no_way[criterion]
        )
        missing = feasible - verdicts[COVERED]
        title = "Written goals" if criterion == WRITTEN else criterion
        yield Tile(title, share, more, OPEN if missing else GOOD)


def _requirement_tiles(saved: Saved) -> Iterator[Tile]:
    counts = Counter(ruling["ruling"] for ruling in rulings_of(saved))
    if not counts:
        return
    more = ", ".join(
        f"{counts[ruling]} {word}"
        for ruling, word in ((CAN_FAIL, "can fail"), (NEVER_VIOLATED, "proved"), (UNDECIDED, "undecided"))
        if counts[ruling]
    )
    if empty := len(vacuous(saved)):
        more += f"; {empty} of these vacuously: no run reaches the antecedent"
    state = BAD if counts[CAN_FAIL] else OPEN if counts[UNDECIDED] or empty else GOOD
    yield Tile("Requirements", f"{counts[NEVER_VIOLATED]} of {counts.total()}", f"never violated: {more}", state)


def _chain_tiles(saved: Saved) -> Iterator[Tile]:
    length = length_of(saved)
    if length is None:
        return
    lower, minimal = bounds_of(saved)
    time = seconds(length, period_of(saved))
    several = counted(len(saved.chains), "chain") if len(saved.chains) > 1 else "one chain"
    yield Tile("Length", counted(length, "step"), f"{several}{f', {time}' if time else ''}")
    gap = "the bound is met" if minimal else f"the chain has {counted(length - lower, 'step')} more" if lower else ""
    yield Tile("Lower bound", counted(lower, "step") if lower else "none", gap or "no bound", GOOD if minimal else OPEN)


def _run_tiles(saved: Saved) -> Iterator[Tile]:
    replays = [chain.run["replay"] for chain in saved.chains if chain.run and chain.run.get("replay")]
    if replays:
        wrong = sum(len(each["disagreements"]) for each in replays)
        told = f"{counted(wrong, 'disagreement')}" if wrong else f"{sum(e['steps'] for e in replays)} steps agree"
        own = f"{told}{_own_sources(replays[0])}"
        yield Tile("Replayed on", replays[0]["on"].split(" (")[0], own, BAD if wrong else GOOD)
    else:
        yield Tile("Replayed", "no", "no replay is recorded beside the chain", OPEN)
    for name, verified in saved.verified:
        good = verified["exit_code"] == 0
        yield Tile("Verified", "yes" if good else "no", f"{verified['summary']} ({name})", GOOD if good else BAD)
    for name, judged in saved.judged:
        yield _judged_tile(name, judged)


def _judged_tile(name: str, judged: Mapping[str, Any]) -> Tile:
    state = {0: GOOD, 1: BAD}.get(judged["exit_code"], OPEN)
    covered = sum(goal["verdict"] == COVERED for goal in judged["goals"])
    failed = len(_failed(judged))
    more = f"goals covered on {place_of(judged)}{_own_sources(judged)}"
    more += f", {counted(failed, 'requirement')} failed" if failed else ""
    more += ", values deviate" if deviates(judged) else ""
    return Tile(f"Judged: {name}", f"{covered} of {len(judged['goals'])}", more, state)


def head(saved: Saved) -> dict[str, Any]:
    """Sources with their hashes, versions, settings, and what the result rests on."""
    first = saved.chains[0].data if saved.chains else {}
    text, state = sentence(saved)
    controller = first.get("controller") or {}
    facts = [
        ("controller", f"{name_of(saved)}: {', '.join(controller.get('init', ()))}, {controller.get('step', '')}"),
        ("data model", controller.get("target", "")),
        ("period", seconds(1, controller.get("period"))),
        ("macros", _pairs(controller.get("defines"), "=")),
        *_of_runs([chain.run for chain in saved.chains if chain.run]),
        ("ChainCover", (first.get("tool") or {}).get("version", "")),
        ("libraries", _pairs(first.get("versions"), " ")),
        ("settings", _settings(first.get("settings") or {})),
    ]
    rests = [*dict.fromkeys(claim for chain in saved.chains for claim in chain.data.get("claims", ()))]
    return {
        "sentence": text,
        "state": state,
        "sources": controller.get("sources", []),
        "facts": [(name, value) for name, value in facts if value],
        "rests": rests,
    }


def _pairs(values: Mapping[str, Any] | None, between: str) -> str:
    return ", ".join(f"{name}{between}{value}" for name, value in (values or {}).items())


def _of_runs(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What the chains were replayed on, and the host of the first of ``runs``."""
    yield "compiled original", ", ".join(dict.fromkeys(run["replay"]["on"] for run in runs if run.get("replay")))
    host = (runs[0].get("host") if runs else None) or {}
    yield "host", ", ".join(str(host[key]) for key in ("system", "machine") if key in host)


def _settings(settings: Mapping[str, Any]) -> str:
    """All settings that say something, but for the list of goals, which has a part of its own."""
    told: Sequence[tuple[str, Any]] = [(name, value) for name, value in settings.items() if name != "goals"]
    return ", ".join(f"{name} {_told(value)}" for name, value in told if value not in (None, [], ""))


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else as_text(value)
