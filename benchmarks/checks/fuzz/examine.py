"""Inputs of one kind, each made from its seed and judged, in processes of their own: none outlives its time."""

from __future__ import annotations

import functools
import multiprocessing
import os
import random
import re
import resource
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pysmt.environment import Environment, get_env, pop_env, push_env

from benchmarks import FOLDER
from bmc.errors import ChainCoverError, InputRefused, LimitReached
from bmc.models.c.execute.arithmetic import forget_intervals

SECONDS = 30
"""Seconds of the processor that one input may take; by the clock it may take ``PATIENCE`` times as long."""
PATIENCE = 20
PART = 400
"""Inputs of one process: what it keeps of earlier ones goes with it."""
MEMORY = 8 << 30
"""Bytes that a process may have."""
ROOT = FOLDER.parent
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["benchmarks.checks.fuzz.kinds"])
AGREE, ACCEPTED, REFUSED = "agree", "accepted", "refused"
DIFFER, FAILED, LATE = "differ", "failed", "too long"
FAULTS = (DIFFER, FAILED, LATE)
"""Outcomes that are findings."""

Input = dict[str, Any]
"""One input as data of JSON: its keys are the business of its kind."""


@dataclass(frozen=True)
class Row:
    """What became of one input: it agrees with the reference of its kind in ``steps``, or ``detail`` says why not.

    ``seconds`` are those of the processor, the compiler's and the program's among them.
    """

    outcome: str
    detail: str = ""
    steps: int = 0
    variables: int = 0
    lines: int = 0
    seed: int = -1
    seconds: float = 0.0


@dataclass(frozen=True)
class Kind:
    """A kind of input: how one is made from random numbers, and how it is judged.

    ``judge`` may raise what the command line turns into a message. ``keeps`` names the programs that it
    keeps, whose variables' names all inputs share; '' where each input has names of its own.
    """

    name: str
    draw: Callable[[random.Random], Input]
    judge: Callable[[Input], Row]
    keeps: str = ""


def examine(kind: Kind, data: Input) -> Row:
    """Judge one input; never raises but for an interrupt."""
    push_env(_kept_names(kind.keeps) if kind.keeps else Environment())
    get_env().enable_infix_notation = True
    try:
        return kind.judge(data)
    except ChainCoverError as error:
        return refused(error)
    except Exception as error:
        return Row(FAILED, fault(error))
    finally:
        pop_env()
        if not kind.keeps:
            forget_intervals()


@functools.cache
def _kept_names(keeps: str) -> Environment:
    return Environment()


def refused(error: ChainCoverError) -> Row:
    """A message to the user, which has to say where, what and what next."""
    lacks = [] if error.message.strip() else ["message"]
    lacks += [] if error.hint.strip() else ["next step"]
    lacks += ["place"] if isinstance(error, InputRefused) and error.where is None else []
    if lacks:
        return Row(FAILED, f"without {' and '.join(lacks)}: {type(error).__name__}: {error}")
    if isinstance(error, LimitReached):
        return Row(ACCEPTED, f"limit: {error.message}")
    return Row(REFUSED, error.message)


def fault(error: BaseException) -> str:
    """An error that nobody foresaw, with the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if str(ROOT) in frame.filename] or list(frames)
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__}: {str(error)[:300]} ({place})"


def rows_of(kind: Kind, seeds: Sequence[int]) -> Iterator[Row]:
    """The rows of ``seeds``, in their order."""
    todo = list(seeds)
    while todo:
        part, done = todo[:PART], 0
        receiver, sender = _PROCESSES.Pipe(duplex=False)
        process = _PROCESSES.Process(target=_judge_all, args=(sender, kind.name, part, SECONDS), daemon=True)
        process.start()
        sender.close()
        try:
            for seed in part:
                row = receiver.recv() if receiver.poll(PATIENCE * SECONDS) else Row(LATE, seed=seed)
                done += 1
                yield row
                if row.outcome == LATE:
                    break
        except EOFError:
            process.join()
            late = process.exitcode == -signal.SIGPROF
            yield Row(LATE if late else FAILED, f"the process ended: {process.exitcode}", seed=part[done])
            done += 1
        finally:
            process.kill()
            process.join()
            receiver.close()
        del todo[:done]


def _judge_all(sender: Connection, name: str, seeds: Sequence[int], seconds: float) -> None:
    """Send the row of each seed; the system ends the process where one takes too long, whatever it is doing."""
    from benchmarks.checks.fuzz.kinds import KINDS

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ["CHAINCOVER_CACHE"] = "off"
    kind = KINDS[name]
    for seed in seeds:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        begun = _seconds()
        try:
            row = examine(kind, kind.draw(random.Random(seed)))
        except ChainCoverError as error:  # what makes the inputs is missing
            row = Row(FAILED, str(error))
        sender.send(replace(row, seed=seed, seconds=_seconds() - begun))


def _seconds() -> float:
    """Seconds of the processor that this process and its children have taken."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def reason(detail: str) -> str:
    """What a message says, without what it quotes."""
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|\"[^\"]*\"", "'...'", detail.splitlines()[0] if detail else ""))[:100]
