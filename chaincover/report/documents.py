"""What differs from run to run as plain data (``run.json``: timings, host), and exit codes."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bmc.ending import CALLED_OFF, ExitCode
from chaincover.chain import COVERED, UNDECIDED
from chaincover.formats.writer import tool_version
from chaincover.limits import UNITS
from chaincover.report.findings import formulas_of, read_by
from chaincover.result import ChainResult
from chaincover.subject import Subject
from chaincover.target.comparison import Observed
from chaincover.verdicts import infeasible
from chaincover.weights import exists_path, transitive_closure

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd
    from chaincover.graph.reachability import CoveringGraph
    from chaincover.stages import StageCost
    from chaincover.target.judge import JudgedRun

RUN_SCHEMA = "chaincover/run/7"
JUDGED_SCHEMA = "chaincover/judged/4"
JUDGEMENTS_SCHEMA = "chaincover/judgements/1"
VERIFIED_SCHEMA = "chaincover/verification/1"

NOTHING_REPLAYED: Mapping[str, JudgedRun] = {}


class Progress(Protocol):
    """The progress of a run: seconds by stage, and each better answer with its seconds, its stage and its figures."""

    @property
    def seconds(self) -> Mapping[str, float]: ...

    @property
    def history(self) -> Sequence[tuple[float, str, Any]]: ...


class Run(Protocol):
    """A run of the tool: its progress, the words that name the project on the command line, with its options, and the
    folder of its results, both as they were typed."""

    @property
    def progress(self) -> Progress: ...

    @property
    def asked(self) -> Sequence[str]: ...

    @property
    def folder(self) -> Path: ...


def run_document(
    subject: Subject,
    result: ChainResult,
    replay: JudgedRun | None,
    run: Run,
    violations: Mapping[str, JudgedRun] = NOTHING_REPLAYED,
) -> dict[str, Any]:
    """What differs from run to run: seconds by stage, the host, the replay, and those of ``violations``, by goal."""
    progress = run.progress
    return {
        "schema": RUN_SCHEMA,
        "controller": subject.system.name,
        "asked": list(run.asked),
        "folder": str(run.folder),
        "seconds": {stage: round(value, 3) for stage, value in progress.seconds.items()},
        "progress": [
            {"seconds": after, "stage": stage, **asdict(reached)} for after, stage, reached in progress.history
        ],
        "effort": {"given": result.options.effort, "spent": round(result.answered.effort / UNITS, 3)},
        "profile": [profile_row(cost) for cost in result.answered.profile],
        "engine": engine_row(result),
        "queries": result.graph.queries,
        "stopped_by": result.stopped_by,
        "replay": None if replay is None else replay_data(replay),
        "violations": {goal: replay_data(own) for goal, own in violations.items()},
        "host": _host(),
    }


def _host() -> dict[str, str]:
    """The system and the machine; ``platform.platform()`` would start a process to find out more."""
    here = platform.uname()
    return {"system": f"{here.system}-{here.release}", "machine": here.machine, "python": platform.python_version()}


def engine_row(result: ChainResult) -> dict[str, Any]:
    """The engine that was used, why it was chosen, and the backend that ordered the goals."""
    answered = result.answered
    return {"name": answered.engine, "version": answered.version, "why": answered.why, "ordering": answered.ordering}


def profile_row(cost: StageCost) -> dict[str, Any]:
    """A stage's share of the time: seconds in all, in the solver, for making its formulas, and the tool's own."""
    seconds = {"seconds": cost.seconds, "solving": cost.solving, "encoding": cost.encoding, "own": cost.own}
    return {"stage": cost.stage, "queries": cost.queries, **{name: round(value, 3) for name, value in seconds.items()}}


def judged_document(subject: Subject, chain: str, judged: JudgedRun) -> dict[str, Any]:
    """The content of ``judged.json``: what became of a run of the chain in the file ``chain``, and its values."""
    head = {"schema": JUDGED_SCHEMA, "tool": {"name": "chaincover", "version": tool_version()}}
    data = {**head, "controller": subject.system.name, "chain": chain, **replay_data(judged)}
    return {**data, "tracks": [] if judged.observed is None else _tracks(subject, judged.observed)}


def judgements_document(judged: Sequence[Mapping[str, Any]], stopped_by: str) -> dict[str, Any]:
    """The content of the file of a replay of several chains: each as ``judged_document`` has it, in their order, and
    what stopped the replay before the others, '' where none is missing."""
    head = {"schema": JUDGEMENTS_SCHEMA, "tool": {"name": "chaincover", "version": tool_version()}}
    return {**head, "controller": judged[0]["controller"], "stopped_by": stopped_by, "chains": [*judged]}


def _tracks(subject: Subject, observed: Observed) -> list[dict[str, Any]]:
    """The observed values, of the state those that goals read or that differ: where they change, not step by step."""
    from chaincover.target.tracks import tracks  # here, for a search judges no recording

    formulas = [formula for goal in subject.goals for formula in formulas_of(goal)]
    return [
        {
            "variable": track.variable,
            "values": [each.value for each in track.values],
            "runs": [each.end - each.first for each in track.values],
            "differs": [[each.first, each.end, each.value] for each in track.differs],
        }
        for track in tracks(subject.system, observed, read_by(subject.system, formulas))
    ]


def replay_data(replay: JudgedRun) -> dict[str, Any]:
    """What became of a run that was judged."""
    return {
        "on": replay.on,
        "against": replay.against,
        "renumbered": list(replay.renumbered),
        "steps": replay.steps,
        "cut_short": replay.cut_short,
        "other_inputs": list(replay.other_inputs),
        "comparison": None if replay.comparison is None else asdict(replay.comparison),
        "goals": [
            {
                "name": g.goal,
                "asked": g.asked,
                "infeasible": g.infeasible,
                "verdict": g.verdict,
                "how": g.how,
                "detail": g.detail,
                "covered_at": g.step,
                "times": g.times,
                "requirement": g.requirement,
                "why": g.why,
                "consequent_held": g.consequent_held,
                "failed_at": g.failed_at,
                "claimed_at": g.claimed,
                "deadline": None if g.deadline is None else asdict(g.deadline),
                "others": None if g.others is None else asdict(g.others),
                "failed_on_chain": g.failed_on_chain,
                "newly_failed": g.newly_failed,
            }
            for g in replay.goals
        ],
        "goals_not_known": list(replay.not_known),
        "final": replay.final,
        "disagreements": list(replay.disagreements),
        "differences": [asdict(each) for each in replay.differences],
        "changed_sources": list(replay.changed),
        "same_but_included": list(replay.included),
        "refused_steps": list(replay.refused),
        "assertions_failed": list(replay.violations),
        "remarks": list(replay.remarks),
        "exit_code": replay.exit_code,
    }


def exit_code(subject: Subject, result: ChainResult, replay: JudgedRun | None, no_step: DeadEnd | None = None) -> int:
    """130 interrupted, 143 terminated, 1 a finding or disagreement, 5 a goal left open by a limit, 4 goals not covered.

    That a requirement can fail is a finding, whatever became of the chain.

    Else 0. Generated goals that are proved unreachable need not be covered. 4 too where there is no
    chain and ``no_step`` says why.
    """
    if result.stopped_by in CALLED_OFF:
        return CALLED_OFF[result.stopped_by]
    if result.requirements.findings:
        return ExitCode.FINDING
    if no_step is not None and result.chain is None:
        return ExitCode.NOT_COVERED
    if result.chain is not None and (result.chain.failures or result.chain.violations):
        return ExitCode.FINDING
    if replay is not None and replay.exit_code not in (0, ExitCode.NOT_COVERED):
        return replay.exit_code
    return _goals_exit_code(subject, result) or (0 if replay is None else replay.exit_code)


def _goals_exit_code(subject: Subject, result: ChainResult) -> int:
    """5 if a limit left a goal open, 4 if one is not covered that is to be covered, else 0."""
    aside = infeasible(subject.goals, result.verdicts)
    if result.chain is not None and all(v.status == COVERED or v.goal in aside for v in result.verdicts):
        return 0
    limited = result.chain is None and not result.verdicts and (result.stopped_by or result.used_up)
    left_open = limited or any(v.status == UNDECIDED for v in result.verdicts)
    return ExitCode.LIMIT if left_open else ExitCode.NOT_COVERED


def graph_exit_code(found: CoveringGraph) -> int:
    """130 interrupted, 143 terminated, 5 where a limit came before a covering path, 4 where there is none, else 0.

    Edges on which the solver gave up are a limit too.
    """
    if found.stopped_by:
        return CALLED_OFF.get(found.stopped_by, ExitCode.LIMIT)
    if exists_path(found.graph, transitive_closure(found.graph)):
        return 0
    return ExitCode.LIMIT if found.used_up or found.graph.unknown else ExitCode.NOT_COVERED
