"""Runs of a suite, several at a time: each one a process with hard limits, here or on the workers of a cluster."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.bench import guard, tools
from benchmarks.bench.cluster import Cluster
from benchmarks.bench.plan import Run, code_of
from benchmarks.bench.table import COMMAND, LOG, RUNS, Ended
from benchmarks.bench.tools.protocol import CRASHED, MISSING, OUT_OF_MEMORY, TIME_OUT, Outcome
from bmc import ending, footprint
from bmc.errors import InputRefused, UsageError, shortened

ROOT = Path(__file__).parents[2]
COST = "cost.json"

RESERVE, SHARE = 3.0, 0.05
"""A tool that then tells what it has is asked to end so many seconds, and this part of its time, before its limit."""

ASK = 2.0
"""Seconds after which a worker of a cluster asks whether its run is still wanted."""

SHOWN = 1 << 20
"""Bytes of a log that are read from its begin, and from its end: a tool may write a gigabyte."""

ENDED_BY = {guard.TIME: TIME_OUT, guard.MEMORY: OUT_OF_MEMORY}
"""The status of a run that its guard has ended."""


class CalledOff(Exception):
    """A run was ended because all are."""


class Processes:
    """The runs that this process has under way; ``end`` calls them off, and ``wanted`` does where it tells no."""

    def __init__(self, wanted: Callable[[], bool] = lambda: True) -> None:
        self._wanted = wanted
        self._lock = threading.Lock()
        self._ends = False
        self._begun: list[subprocess.Popen[bytes]] = []

    def run(self, command: Sequence[str], folder: Path, limits: Sequence[float]) -> dict[str, Any]:
        """Run ``command`` in ``folder`` to its end; what it took, as its guard tells. CalledOff where ``end`` came."""
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        guarded = [sys.executable, "-I", "-S", guard.__file__, COST, *map(str, limits), *command]
        with open(folder / LOG, "wb") as log:
            with self._lock:
                if self._ends:
                    raise CalledOff
                process = subprocess.Popen(
                    guarded,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env={**os.environ, "PYTHONPATH": path, "CHAINCOVER_CACHE": "off", "COLUMNS": "120"},
                    start_new_session=True,
                )
                self._begun.append(process)
            self._wait(process)
        with self._lock:
            self._begun.remove(process)
            if self._ends:
                raise CalledOff
        place = folder / COST
        try:
            cost: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # the guard itself was killed
            return {"stopped": "", "code": process.returncode, "seconds": 0.0, "processor_seconds": 0.0, "megabytes": 0}
        place.unlink()
        return cost

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                process.wait(ASK)
            except subprocess.TimeoutExpired:
                if not self._wanted():
                    self.end()
            else:
                break
        assert process.stdin is not None
        process.stdin.close()

    def end(self) -> None:
        """Call off what is under way, and whatever is to begin."""
        with self._lock:
            self._ends = True
            for process in self._begun:
                with suppress(OSError):
                    assert process.stdin is not None
                    process.stdin.close()


def execute(run: Run, folder: Path, processes: Processes) -> Ended:
    """Do one run in ``folder``, which is made anew. UsageError where the sources are no longer those of the plan."""
    host = platform.node()
    if run.code.missing:
        return Ended((Outcome(MISSING, note=run.code.missing),), host=host)
    tool = tools.find(run.configuration.tool)
    missing = tool.missing()
    if missing:
        return Ended((Outcome(MISSING, note=missing),), host=host)
    try:
        same = code_of(run.model) == run.code
    except (InputRefused, OSError):
        same = False
    if not same:
        text = f"{host}: the sources of {run.model.name} are not those with which the suite began"
        raise UsageError(text, hint="begin again with --resume; workers need the same files at the same place")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        command = [*tool.command(run.task, folder)]
    except Exception as error:  # of a setting's value: it costs this row alone
        command = [sys.executable, "-c", f"raise SystemExit({f'{type(error).__name__}: {error}'!r})"]
    seconds = run.task.seconds
    reserve = min(max(RESERVE, SHARE * seconds), seconds / 2) if getattr(tool, "ends_when_asked", False) else 0.0
    cost = processes.run(command, folder, (seconds, seconds - reserve, run.task.megabytes))
    outcomes = _outcomes(run, folder, cost)
    record = {"command": [_without_places(word, run, folder) for word in command], **cost, "rows": len(outcomes)}
    with open(folder / COMMAND, "w", encoding="utf-8") as file:
        file.write(json.dumps(record, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    took = {name: cost[name] for name in ("seconds", "processor_seconds", "megabytes")}
    return Ended(outcomes, cost["code"], **took, host=host)


def _outcomes(run: Run, folder: Path, cost: Mapping[str, Any]) -> tuple[Outcome, ...]:
    """What the tool says came of the run, corrected by what its guard knows."""
    log = log_text(folder / LOG)
    code = -1 if cost["code"] is None else cost["code"]
    try:
        outcomes = tools.find(run.configuration.tool).read(folder, code, log)
    except Exception as error:  # a tool of the user, or a file that was cut off: it costs this row alone
        outcomes = (Outcome(CRASHED, note=f"what it wrote cannot be read: {type(error).__name__}: {error}"),)
    by_itself = cost["code"] is not None  # then its own word counts, also where it was asked to end
    status = "" if by_itself and code >= 0 else ENDED_BY.get(cost["stopped"], CRASHED)
    lines = [line.strip() for line in log.splitlines()]
    last = next((line for line in reversed(lines) if line and not line.startswith("next: ")), "")
    told = []
    for outcome in outcomes or (Outcome(CRASHED),):
        if status or (outcome.status == CRASHED and cost["stopped"]):
            outcome = replace(outcome, status=status or ENDED_BY[cost["stopped"]])
        if outcome.status == CRASHED and not outcome.note:
            outcome = replace(outcome, note=last or f"it told nothing and ended with exit code {code}")
        told.append(replace(outcome, note=shortened(_without_places(outcome.note, run, folder))))
    return tuple(told)


def log_text(place: Path) -> str:
    """The text of a log; of one that is longer than two megabytes its first and its last one."""
    with open(place, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        parts = [file.read(2 * SHOWN if size <= 2 * SHOWN else SHOWN)]
        if size > 2 * SHOWN:
            file.seek(-SHOWN, os.SEEK_END)
            parts.append(file.read(SHOWN))
    return "\n".join(part.decode(errors="replace") for part in parts)


def _without_places(text: str, run: Run, folder: Path) -> str:
    """``text`` without what is only so on this machine."""
    project = run.task.project
    names = {str(folder): ".", str(project): run.model.shown, sys.executable: "python"}
    names |= {f"{folder}/": "", f"{project.parent}/": ""}
    places = "|".join(re.escape(place) for place in sorted(names, key=len, reverse=True))
    return re.sub(places, lambda found: names[found[0]], text)


Files = dict[str, bytes]

_here: list[Processes] = []
"""The last ones that were begun in this process; those of a cluster's runs that no worker does."""


def execute_far(run: Run) -> tuple[Ended, Files]:
    """Do one run on a worker of a cluster: its files come back with what it found."""
    with tempfile.TemporaryDirectory(prefix="chaincover-bench-") as scratch:
        folder = Path(scratch) / run.id
        ended = execute(run, folder, _processes_here())
        found = sorted(place for place in folder.rglob("*") if place.is_file())
        return ended, {place.relative_to(folder).as_posix(): place.read_bytes() for place in found}


def _processes_here() -> Processes:
    """Those of the worker's task; they end when nobody waits for it any more."""
    import distributed

    try:
        worker: Any = distributed.get_worker()
    except ValueError:
        return _here[-1]
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return Processes(wanted)


@dataclass(frozen=True)
class Runner:
    """Does runs, ``jobs`` at a time here, or as many as the cluster does; files go to ``runs/ID`` of ``folder``.

    ``begins`` is told of each run that begins.
    """

    folder: Path
    jobs: int
    cluster: Cluster | None
    begins: Callable[[Run], None]

    def do(self, runs: Sequence[Run], ended: Callable[[Run, Ended], None]) -> None:
        """Do all ``runs``; ``ended`` is told in this thread. What ends this ends those under way."""
        _here.append(processes := Processes())
        with ThreadPoolExecutor(self.jobs if self.cluster is None else self.cluster.size()) as threads:
            try:
                futures = {threads.submit(self._one, run, processes): run for run in runs}
                for future in as_completed(futures):
                    with ending.uninterrupted():
                        ended(futures[future], future.result())
            except BaseException:
                processes.end()
                threads.shutdown(wait=False, cancel_futures=True)
                if self.cluster is not None:
                    self.cluster.close()
                raise

    def _one(self, run: Run, processes: Processes) -> Ended:
        self.begins(run)
        folder = self.folder / RUNS / run.id
        if self.cluster is None:
            most = footprint.machine() // footprint.MB // (self.jobs + 1)
            task = replace(run.task, megabytes=min(run.task.megabytes, most))
            return execute(replace(run, task=task), folder, processes)
        ended, files = self.cluster.map(execute_far, [run], lambda done: None)[0]
        shutil.rmtree(folder, ignore_errors=True)
        for name, content in files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return ended
