"""ChainCover itself: ``generate``, whose best answer so far is on disk when a limit comes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.bench.tools.protocol import COVERED, CRASHED, FINISHED, OUT_OF_MEMORY, TIME_OUT, Outcome, Task
from benchmarks.bench.tools.values import refused
from chaincover.certificate import from_data
from chaincover.chain import NO_WAY_TO_FINAL, UNDECIDED, UNREACHABLE

OPTIONS = {
    "K": "-K",
    "overlap": "--overlap",
    "ordering": "--ordering",
    "engine": "--engine",
    "effort": "--effort",
    "repair": "--repair",
    "query_limit": "--query-limit",
    "max_length": "--max-length",
}
FLAGS = {"several": "--several", "most": "--most", "violations": "--violations"}

NOT_COVERED = "not-in-replay"
"""The verdict of a goal that a chain claims to cover, and its replay does not."""

DECIDED = {COVERED, UNREACHABLE, NO_WAY_TO_FINAL}
"""The verdicts of goals of which all is known."""

_NO_MEMORY = re.compile(r"^error: .*\bno memory\b", re.M)
_REACHABLE = re.compile(r"one of (\d+) reachable states")


class ChainCover:
    """``chaincover generate`` with its options as settings. It is given no limit of time: by that it would share its
    time among parts of its work, and a slow machine would have other results even where it has time enough."""

    name = "chaincover"
    ends_when_asked = True
    settings = frozenset({*OPTIONS, *FLAGS})

    def missing(self) -> str:
        """It is here."""
        return ""

    def refused(self, setting: str, value: str | int | float | bool) -> str:
        """See the protocol."""
        from chaincover.cli.generate import command

        return refused(command, OPTIONS.get(setting) or FLAGS[setting], value)

    def command(self, task: Task, folder: Path) -> Sequence[str]:
        """``generate``, which tells what it has when it is asked to end, and gives up before it takes more memory than
        it may."""
        words = [sys.executable, "-m", "chaincover", "generate", str(task.project), *task.selection]
        for name, value in task.settings.items():
            if name in OPTIONS:
                words += [OPTIONS[name], str(value)]
            elif value:
                words.append(FLAGS[name])
        return [*words, "--memory-limit", str(task.megabytes), "-o", str(folder)]

    def read(self, folder: Path, code: int, log: str) -> tuple[Outcome, ...]:
        """What is in ``chain.json``, or in ``chains.json`` and the files that it names."""
        several, single = folder / "chains.json", folder / "chain.json"
        if several.exists():
            summary = _read(several)
            return (_settled(_several(folder, summary, log), summary),)
        if single.exists():
            document = _read(single)
            return (_settled(_single(folder, document, log), document),)
        return (Outcome(_status({"stopped_by": "", "finished": False}, log)),)


def _read(place: Path) -> Any:
    return json.loads(place.read_text(encoding="utf-8"))


def _status(document: Mapping[str, Any], log: str) -> str:
    """How the run ended, by what it wrote; its guard knows more where it was ended from outside."""
    if document["stopped_by"] in ("time limit", "terminated"):
        return TIME_OUT
    if document["stopped_by"] == "memory limit" or _NO_MEMORY.search(log):
        return OUT_OF_MEMORY
    return FINISHED if document["finished"] else CRASHED


def _settled(outcome: Outcome, document: Mapping[str, Any]) -> Outcome:
    """``outcome``, finished where a limit came after all was known of the chains: while requirements were decided."""
    if outcome.status not in (TIME_OUT, OUT_OF_MEMORY) or not (outcome.minimal and outcome.fewest):
        return outcome
    if not document["finished"] or {*outcome.verdicts.values()} - DECIDED:
        return outcome
    told = f"{outcome.status} while requirements were decided"
    return replace(outcome, status=FINISHED, note="; ".join(filter(None, [outcome.note, told])))


def _single(folder: Path, document: Mapping[str, Any], log: str) -> Outcome:
    chain, bounds = document["chain"], document["bounds"]
    record = _record(folder / "run.json")
    verdicts = _verdicts(document["goals"], "name", [document["certificate"]], _replayed([record]))
    found = chain is not None
    return Outcome(
        _status(document, log),
        chains=int(found) if found else None,
        length=chain["length"] if found else None,
        lower=bounds["lower"],
        minimal=bool(found and bounds["minimal"]),
        fewest=found and not {*verdicts.values()} - DECIDED,
        K=bounds["k_met"],
        states=_states([document]),
        long_goals=sum(goal["length"] > 1 for goal in document["goals"]),
        verdicts=verdicts,
        replay=_replay([record]) if found else "",
        stages=_stages([record]),
        versions=_versions(document),
        note=_note(document),
        files=_files(folder, ["chain.json", "chain.csv", "run.json"]),
    )


def _several(folder: Path, summary: Mapping[str, Any], log: str) -> Outcome:
    """Chains are counted as test cases, and their steps in all."""
    names = [chain["file"] for chain in summary["chains"]]
    documents = [_read(folder / name) for name in names]
    records = [_record(folder / name.replace("chain-", "run-")) for name in names]
    certificates = [document["certificate"] for document in documents]
    lengths = {goal["name"]: goal["length"] for document in documents for goal in document["goals"]}
    met = [document["bounds"]["k_met"] for document in documents]
    tables = [name.replace(".json", ".csv") for name in names]
    files = ["chains.json", *names, *tables, *(name.replace("chain-", "run-") for name in names)]
    return Outcome(
        _status(summary, log),
        chains=len(names) or None,
        length=summary["length"] if names else None,
        lower=summary["lower"] if names else None,
        minimal=bool(names and summary["minimal"]),
        fewest=bool(names and summary["number_minimal"]),
        K=max((distance for distance in met if distance is not None), default=None),
        states=_states(documents),
        long_goals=sum(length > 1 for length in lengths.values()) if documents else None,
        verdicts=_verdicts(summary["verdicts"], "goal", certificates, _replayed(records)),
        replay=_replay(records),
        stages=_stages(records),
        versions=_versions(documents[0]) if documents else {},
        note=_note(summary),
        files=_files(folder, files),
    )


def _verdicts(
    goals: Iterable[Mapping[str, Any]],
    key: str,
    certificates: Sequence[Mapping[str, Any] | None],
    replayed: frozenset[str] | None,
) -> dict[str, str]:
    """The word of each goal: one without a proof is ``undecided``, one covered by claim alone ``not-in-replay``."""
    no_way = {goal for each in certificates if each is not None for goal in from_data(each).no_way_to_end}
    words = {}
    for goal in goals:
        name, word = goal[key], goal["verdict"]
        if word == COVERED and replayed is not None and name not in replayed:
            word = NOT_COVERED
        elif word == NO_WAY_TO_FINAL and name not in no_way:
            word = UNDECIDED
        words[name] = word
    return words


def _record(place: Path) -> Mapping[str, Any]:
    """``run.json``; empty where the run was ended before it was written."""
    return _read(place) if place.exists() else {}


def _replays(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The replays of all chains; none where one was not replayed."""
    found = [own for record in records if (own := record.get("replay")) is not None]
    return found if len(found) == len(records) else []


def _replayed(records: Sequence[Mapping[str, Any]]) -> frozenset[str] | None:
    """The goals that the replays cover; None where not every chain was replayed."""
    replays = _replays(records)
    covered = (goal["name"] for own in replays for goal in own["goals"] if goal["covered_at"] is not None)
    return frozenset(covered) if replays else None


def _replay(records: Sequence[Mapping[str, Any]]) -> str:
    """What the chains were replayed on: ``original`` or ``model``, and whether these disagreed; '' not at all."""
    replays = _replays(records)
    if not replays:
        return ""
    if any(own["disagreements"] or own["refused_steps"] for own in replays):
        return "disagrees"
    return "model" if any(own["on"] == "model" for own in replays) else "original"


def _states(documents: Iterable[Mapping[str, Any]]) -> int | None:
    """The number of the controller's reachable states, where they were enumerated: without monitors, whose memory would
    be counted with it."""
    numbers: list[int] = []
    for document in documents:
        certificate = document["certificate"] or {}
        if certificate.get("monitors"):
            continue
        for claim in certificate.get("claims", ()):
            numbers += [claim.get("searched", 0)]
            numbers += [int(number) for number in _REACHABLE.findall(claim.get("name", ""))]
    return max(numbers, default=0) or None


def _stages(records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Seconds by the clock: the parts of the command, and in the place of its search the stages of that."""
    if not records or not records[0]:
        return {}
    parts: dict[str, float] = dict(records[0]["seconds"])
    stages: dict[str, float] = {}
    for record in records:
        for row in record.get("profile", ()):
            stages[row["stage"]] = round(stages.get(row["stage"], 0.0) + row["seconds"], 3)
    if stages:
        parts["other search"] = round(max(0.0, parts.pop("search", 0.0) - sum(stages.values())), 3)
    return {**parts, **stages}


def _versions(document: Mapping[str, Any]) -> dict[str, str]:
    return {"chaincover": document["tool"]["version"], **document["versions"]}


def _note(document: Mapping[str, Any]) -> str:
    """What a reader must know: requirements that can fail, and effort that was used up."""
    rulings = (document["requirements"] or {}).get("rulings", ())
    failing = [ruling["goal"] for ruling in rulings if ruling["ruling"] == "can fail"]
    told = [f"requirements that can fail: {', '.join(failing)}"] if failing else []
    return "; ".join([*told, *(["effort used up"] if document["effort_used_up"] else [])])


def _files(folder: Path, names: Iterable[str]) -> tuple[str, ...]:
    violations = sorted(place.name for place in folder.glob("violation-*.csv"))
    return tuple(name for name in [*names, *violations] if (folder / name).exists())
