"""``generate --several``: as few chains as it takes, each with its own files, and one summary."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from chaincover.chain import COVERED, UNDECIDED
from chaincover.formats import chain_file
from chaincover.formats.output import to_json, write_text
from chaincover.partition.several import SeveralChains, generate_several
from chaincover.pipeline import ChainResult, Options
from chaincover.progress import Progress
from chaincover.project.load import Controller
from chaincover.replay.original import Replay, replay
from chaincover.report import console
from chaincover.report import documents as results
from chaincover.verdicts import infeasible


def run(
    controller: Controller, options: Options, folder: Path, with_replay: bool, as_json: bool, progress: Progress
) -> int:
    """Search, replay, write ``chains.json``, ``chain-N.json`` and ``chain-N.csv``, and show. The exit code."""
    with progress.stage("search"):
        found = generate_several(controller.system, controller.goals, controller.final, options, progress)
    parts = [_part(controller, result) for result in found.results]
    played: list[Replay | None] = []
    for part, result in zip(parts, found.results, strict=True):
        with progress.stage("replay"):
            played.append(_replay(part, result) if with_replay else None)
    progress.done()
    document = summary(controller, options, found)
    _write(folder, parts, found, played, progress, document)
    if as_json:
        click.echo(to_json(document), nl=False)
    elif progress.verbosity >= 0:
        _show(console.console(), controller, parts, found, played, folder)
    return _exit_code(controller, parts, found, played)


def _replay(part: Controller, result: ChainResult) -> Replay:
    assert result.chain is not None
    return replay(part, chain_file.stimulus_of(part.system, result.chain), infeasible(part.goals, result.verdicts))


def _part(controller: Controller, result: ChainResult) -> Controller:
    """The controller with the goals of one chain."""
    names = {verdict.goal for verdict in result.verdicts}
    return replace(controller, goals=tuple(goal for goal in controller.goals if goal.name in names))


def summary(controller: Controller, options: Options, found: SeveralChains) -> dict[str, Any]:
    """What was found, as the data of ``chains.json``; the same for the same input."""
    return {
        "schema": chain_file.CHAINS_SCHEMA,
        "controller": controller.system.name,
        "settings": results.settings(controller, options),
        "chains": [
            {
                "file": f"chain-{number}.json",
                "length": result.chain.length,
                "lower": result.bounds.lower,
                "minimal": result.bounds.minimal,
                "goals": [hit.goal for hit in result.chain.hits],
            }
            for number, result in enumerate(found.results, 1)
            if result.chain is not None
        ],
        "length": found.length,
        "lower": found.bounds.lower,
        "minimal": found.bounds.minimal,
        "basis": found.bounds.basis,
        "fewest_within_k": found.fewest,
        "fewest_at_all": found.fewest and found.at_all,
        "conflicts": [{"goals": list(c.goals), "reason": c.reason, "at_all": c.at_all} for c in found.conflicts],
        "verdicts": [
            {
                "goal": v.goal,
                "property": goal.text,
                "generated": goal.generated or None,
                "verdict": v.status,
                "step": v.step,
                "detail": v.detail,
            }
            for goal, v in zip(controller.goals, found.verdicts, strict=True)
        ],
        "stopped_by": found.stopped_by,
    }


def _write(
    folder: Path,
    parts: list[Controller],
    found: SeveralChains,
    played: list[Replay | None],
    progress: Progress,
    document: dict[str, Any],
) -> None:
    for number, (part, result) in enumerate(zip(parts, found.results, strict=True), 1):
        assert result.chain is not None
        write_text(folder / f"chain-{number}.json", to_json(results.chain_document(part, result)))
        table = chain_file.chain_csv(part.system, result.chain, part.project.period)
        write_text(folder / f"chain-{number}.csv", table)
        run_data = results.run_document(part, result, played[number - 1], progress.seconds)
        write_text(folder / f"run-{number}.json", to_json(run_data))
    write_text(folder / "chains.json", to_json(document))
    for number in count(len(parts) + 1):
        old = [folder / f"chain-{number}.json", folder / f"chain-{number}.csv", folder / f"run-{number}.json"]
        if not any(place.exists() for place in old):
            return
        for place in old:
            place.unlink(missing_ok=True)


def _show(
    out: Console,
    controller: Controller,
    parts: list[Controller],
    found: SeveralChains,
    played: list[Replay | None],
    folder: Path,
) -> None:
    for part, result, own in zip(parts, found.results, played, strict=True):
        console.show_result(out, part, result)
        if own is not None:
            console.show_replay(out, own)
        console.say(out, "")
    covered = sum(1 for v in found.verdicts if v.status == COVERED)
    chains = f"{len(found.results)} chain{'' if len(found.results) == 1 else 's'}"
    fewest = ""
    if found.fewest and len(found.results) > 1:
        fewest = ", the fewest there can be" if found.at_all else ", the fewest within the K reached"
    goals = f"{covered} of {len(controller.goals)} goals{console.set_aside(controller.goals, found.verdicts)}"
    name = controller.system.name
    held = console.held_runs(controller.system.hold)
    steps = f"{found.length} steps in all ({_proof(found, held)})" if found.results else "0 steps in all"
    console.say(out, f"{name}: {chains}{fewest}, {steps}, cover {goals}", "bold")
    for conflict in found.conflicts:
        console.say(out, f"conflict: {', '.join(conflict.goals)}: {conflict.reason}")
    console.show_next_steps(out, controller.goals, found.verdicts, reasons=True)
    console.say(out, f"written to {folder}/: chains.json, chain-N.json, chain-N.csv, run-N.json")


def _proof(found: SeveralChains, held: str) -> str:
    if found.bounds.minimal:
        return f"minimal{' for this number of chains' if len(found.results) > 1 else ''}{held}, proved"
    return f"proved: none below {found.bounds.lower}{held}"


def _exit_code(
    controller: Controller, parts: list[Controller], found: SeveralChains, played: list[Replay | None]
) -> int:
    """The gravest: interrupted, a finding, a limit, goals not covered (but generated ones proved unreachable)."""
    runs = zip(parts, found.results, played, strict=True)
    codes = [results.exit_code(part, result, own) for part, result, own in runs]
    for code in (130, 1):
        if code in codes:
            return code
    if found.stopped_by:
        return 130 if found.stopped_by == "interrupt" else 5
    aside = infeasible(controller.goals, found.verdicts)
    missed = any(v.status != COVERED and v.goal not in aside for v in found.verdicts)
    if any(v.status == UNDECIDED for v in found.verdicts):
        return 5
    return 4 if missed else max(codes, default=4)
