"""``generate --several``: as few chains as it takes, each with its own files, and one summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import click
from rich.console import Console

from bmc.engines.dead_ends import DeadEnd
from chaincover.chain import COVERED, UNDECIDED
from chaincover.cli.generate import Run, find_dead_end, try_replay
from chaincover.cli.saving import Answers, Saving
from chaincover.formats import chain_file
from chaincover.formats.output import CannotWrite, to_json, write_text
from chaincover.partition.several import SeveralChains, generate_several
from chaincover.progress import goals_covered
from chaincover.project.load import Controller
from chaincover.replay.original import Replay
from chaincover.report import console
from chaincover.report import documents as results
from chaincover.result import CALLED_OFF, ChainResult
from chaincover.verdicts import infeasible

Replays = Sequence[Replay | None]


def generate_chains(run: Run) -> int:
    """Search, replay, write ``chains.json``, ``chain-N.json`` and ``chain-N.csv``, and show. The exit code."""
    answers = Answers[SeveralChains](
        write=lambda best: _write(run, best, [None] * len(best.results), finished=False),
        described=described,
        chains=lambda best: [result.chain for result in best.results],
    )
    saving = Saving(run.progress, answers)
    with saving.kept(run.folder), run.progress.stage("search"):
        found = generate_several(run.controller.problem, run.options, saving)
    run.progress.better(described(found))
    no_step = None if found.results else find_dead_end(run, found.stopped_by)
    parts = [_part(run.controller, result) for result in found.results]
    tried = [try_replay(run, part, result) for part, result in zip(parts, found.results, strict=True)]
    played = [own for own, _ in tried]
    errors = [problem for _, problem in tried if problem is not None]
    run.progress.done()
    try:
        _write(run, found, played, no_step=no_step)
    except CannotWrite as error:
        errors.insert(0, error)
    if run.shown.as_json and not errors:
        click.echo(to_json(summary(run, found, no_step=no_step)), nl=False)
    elif run.shown.text:
        console.show_dead_end(console.console(), no_step)
        _show(console.console(), run, found, played)
    if errors:
        raise errors[0]
    return _exit_code(run.controller, found, played) if no_step is None else results.GOALS_NOT_COVERED


def described(found: SeveralChains) -> str:
    """The best chains so far in a line."""
    chains = f"{len(found.results)} chain{'' if len(found.results) == 1 else 's'}"
    return (
        f"{goals_covered(found.verdicts)} by {chains} of {found.length} steps in all, none below {found.bounds.lower}"
    )


def _part(controller: Controller, result: ChainResult) -> Controller:
    """The controller with the goals of one chain."""
    names = {verdict.goal for verdict in result.verdicts}
    return replace(controller, goals=tuple(goal for goal in controller.goals if goal.name in names))


def summary(run: Run, found: SeveralChains, finished: bool = True, no_step: DeadEnd | None = None) -> dict[str, Any]:
    """What was found, as the data of ``chains.json``; the same for the same input.

    ``no_step``: why no run goes on after some step, where that was found to be what no goal is covered for.
    """
    controller = run.controller
    return {
        "schema": chain_file.CHAINS_SCHEMA,
        "controller": controller.system.name,
        "settings": results.settings(controller, run.options),
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
        "number_minimal_within_k": found.fewest,
        "number_minimal": found.fewest and found.at_all,
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
        "finished": finished,
        "stopped_by": found.stopped_by,
        **({} if no_step is None else {"dead_end": results.dead_end_data(no_step)}),
    }


def _write(
    run: Run, found: SeveralChains, played: Replays, finished: bool = True, no_step: DeadEnd | None = None
) -> None:
    """Write the files of all chains and the summary; those of chains that there are no longer are removed."""
    folder = run.folder
    for number, (result, own) in enumerate(zip(found.results, played, strict=True), 1):
        assert result.chain is not None
        part = _part(run.controller, result)
        write_text(folder / f"chain-{number}.json", to_json(results.chain_document(part, result, finished)))
        table = chain_file.chain_csv(part.system, result.chain, part.project.period)
        write_text(folder / f"chain-{number}.csv", table)
        run_data = results.run_document(part, result, own, run.progress.seconds)
        write_text(folder / f"run-{number}.json", to_json(run_data))
    write_text(folder / "chains.json", to_json(summary(run, found, finished, no_step)))
    for number in count(len(found.results) + 1):
        old = [folder / f"chain-{number}.json", folder / f"chain-{number}.csv", folder / f"run-{number}.json"]
        if not any(place.exists() for place in old):
            return
        for place in old:
            place.unlink(missing_ok=True)


def _show(out: Console, run: Run, found: SeveralChains, played: Replays) -> None:
    controller = run.controller
    for result, own in zip(found.results, played, strict=True):
        console.show_result(out, _part(controller, result), result)
        if own is not None:
            console.show_replay(out, own)
        console.say(out, "")
    covered = sum(1 for v in found.verdicts if v.status == COVERED)
    chains = f"{len(found.results)} chain{'' if len(found.results) == 1 else 's'}"
    minimal = ""
    if found.fewest and len(found.results) > 1:
        minimal = ", the minimal number" if found.at_all else ", the minimal number within the K reached"
    goals = f"{covered} of {len(controller.goals)} goals{console.infeasible_ones(controller.goals, found.verdicts)}"
    name = controller.system.name
    held = console.held_runs(controller.system.hold)
    steps = f"{found.length} steps in all ({_proof(found, held)})" if found.results else "0 steps in all"
    console.say(out, f"{name}: {chains}{minimal}, {steps}, cover {goals}", "bold")
    for conflict in found.conflicts:
        console.say(out, f"conflict: {', '.join(conflict.goals)}: {conflict.reason}")
    console.show_next_steps(out, controller.goals, found.verdicts, run.options, reasons=True)
    if found.stopped_by:
        console.say(out, f"{console.ended_by(found.stopped_by)}; what is told is valid.")
    console.say(out, f"written to {run.folder}/: chains.json, chain-N.json, chain-N.csv, run-N.json")


def _proof(found: SeveralChains, held: str) -> str:
    if found.bounds.minimal:
        return f"minimal{' for this number of chains' if len(found.results) > 1 else ''}{held}, proved"
    return f"proved: none below {found.bounds.lower}{held}"


def _exit_code(controller: Controller, found: SeveralChains, played: Replays) -> int:
    """The gravest: called off, a finding, a goal left open, goals not covered (but for generated unreachable ones)."""
    if found.stopped_by in CALLED_OFF:
        return CALLED_OFF[found.stopped_by]
    runs = zip(found.results, played, strict=True)
    codes = [results.exit_code(_part(controller, result), result, own) for result, own in runs]
    if 1 in codes:
        return 1
    aside = infeasible(controller.goals, found.verdicts)
    if any(v.status == UNDECIDED for v in found.verdicts):
        return results.LIMIT
    missed = not found.results or any(v.status != COVERED and v.goal not in aside for v in found.verdicts)
    return results.GOALS_NOT_COVERED if missed else 0
