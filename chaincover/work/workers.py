"""Independent work on several processes, or on the machines of a Dask cluster.

A worker that is lost loses nothing but time: its tasks are done again. Results come in the order of the tasks,
whatever the order in which they were done. Formulas of pysmt are nodes of a table of their process: they travel as a
list of operators, and are entered into the table of the process that reads them.
"""

from __future__ import annotations

import atexit
import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

from pysmt.fnode import FNode
from pysmt.shortcuts import Symbol, get_env
from pysmt.typing import BOOL, BVType, PySMTType

from bmc import ending, footprint
from bmc.errors import UsageError
from bmc.formulas.evaluate import post_order
from bmc.formulas.terms import meanings

Task = TypeVar("Task")
Result = TypeVar("Result")
Done = Callable[[int], None]

RESTARTS = 3
"""So often lost processes are replaced without any task being done; from then on this process does all work itself."""


ANSWER = 10
"""Seconds in which a scheduler has to answer."""

LOOK = 5.0
"""Seconds without a result after which it is looked at whether a cluster still has workers."""

PRELOADED = ["chaincover.partition.several"]
"""What all processes need is loaded once, where they can be copied from one that has it."""


class Workers(Protocol):
    """Does tasks somewhere else."""

    def map(self, function: Callable[[Task], Result], tasks: Sequence[Task], done: Done) -> list[Result]:
        """``function`` of each task, in their order; ``done`` is told how many are.

        ``function`` is a module's own, tasks and results are plain data. An error of a task is raised here.
        """

    def size(self) -> int:
        """How many tasks are done at a time."""

    def close(self) -> None:
        """Let the workers go, whatever they are doing."""


class Processes:
    """Up to ``jobs`` processes on this machine, started when they are first needed."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._others: list[Any] = []
        self._losses = 0

    def map(self, function: Callable[[Task], Result], tasks: Sequence[Task], done: Done) -> list[Result]:
        """See the protocol."""
        results: dict[int, Result] = {}
        while len(results) < len(tasks) and self._losses < RESTARTS:
            before = len(results)
            try:
                self._go_on(function, tasks, results, done)
            except BrokenProcessPool:
                self.close()
                self._losses = 0 if len(results) > before else self._losses + 1
            else:
                self._losses = 0
        for place, task in enumerate(tasks):
            if place not in results:
                results[place] = function(task)
                done(len(results))
        return [results[place] for place in range(len(tasks))]

    def _go_on(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], results: dict[int, Result], done: Done
    ) -> None:
        """Enter the results of the tasks that have none yet. BrokenProcessPool when a process is lost."""
        pool = self._ready()
        left = [place for place in range(len(tasks)) if place not in results]
        futures = {pool.submit(function, tasks[place]): place for place in left}
        try:
            with ending.interruptible(0.0):
                for future in as_completed(futures):
                    results[futures[future]] = future.result()
                    done(len(results))
        except BrokenProcessPool:
            _keep_done(futures, results)
            raise
        except BaseException:
            self.close()
            raise

    def _ready(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
            if sys.platform == "linux":
                context.set_forkserver_preload(PRELOADED)
            self._others = multiprocessing.active_children()
            self._pool = ProcessPoolExecutor(
                self._jobs, context, initializer=_begin, initargs=(footprint.share_of(self._jobs),)
            )
        return self._pool

    def size(self) -> int:
        """See the protocol."""
        return self._jobs

    def close(self) -> None:
        """See the protocol."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                if child not in self._others:
                    child.terminate()


class Cluster:
    """The workers of the Dask scheduler at ``address``; they need the same ChainCover installed (extra ``dask``)."""

    def __init__(self, address: str) -> None:
        """UsageError if Dask is not installed, or no scheduler answers there."""
        if find_spec("distributed") is None:
            text = "a scheduler needs Dask's package distributed"
            raise UsageError(text, hint="pip install 'chaincover[dask]', or use --jobs")
        import distributed

        self._api: Any = distributed
        self._lost: tuple[type[BaseException], ...] = (
            self._api.CancelledError,
            self._api.comm.CommClosedError,
            self._api.client.ClosedClientError,
        )
        try:
            self._check(address)
            self._client: Any = self._api.Client(address, timeout=ANSWER, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"no scheduler answers at {address}: {error}", hint="start it, or use --jobs") from None

    def _check(self, address: str) -> None:
        """ValueError for what is no address: a client that fails over it leaves a traceback behind, after 20 s."""
        from distributed.comm import registry

        scheme, place = self._api.comm.parse_address(address)
        registry.get_backend(scheme)
        self._api.comm.parse_host_port(place)

    def map(self, function: Callable[[Task], Result], tasks: Sequence[Task], done: Done) -> list[Result]:
        """See the protocol. Dask gives a lost worker's tasks to others; those that nobody does are done here."""
        results: dict[int, Result] = {}
        futures: dict[Any, int] = {}
        try:
            if self._threads():
                futures = {self._client.submit(function, task, pure=False): place for place, task in enumerate(tasks)}
                self._collect(futures, results, done)
        except self._lost:
            pass
        except BaseException:
            with suppress(*self._lost):
                self._client.cancel(list(futures))
            raise
        for place, task in enumerate(tasks):
            if place not in results:
                results[place] = function(task)
                done(len(results))
        return [results[place] for place in range(len(tasks))]

    def _collect(self, futures: dict[Any, int], results: dict[int, Result], done: Done) -> None:
        """Enter results as they come, until all are there or no worker is left."""
        left = set(futures)
        while left:
            try:
                with self._client.as_current():
                    ended, left = self._api.wait(left, timeout=LOOK, return_when="FIRST_COMPLETED")
            except (TimeoutError, self._api.TimeoutError):
                if not self._threads():
                    self._client.cancel(list(left))
                    return
                continue
            for future in ended:
                with suppress(*self._lost, self._api.KilledWorker):
                    results[futures[future]] = future.result()
                    done(len(results))

    def size(self) -> int:
        """See the protocol."""
        return max(1, self._threads())

    def _threads(self) -> int:
        """The threads of all workers; 0 where the scheduler is lost."""
        try:
            return sum(self._client.nthreads().values()) if self._client.status == "running" else 0
        except self._lost:
            return 0

    def close(self) -> None:
        """See the protocol."""
        self._client.close()


def _keep_done(futures: dict[Future[Result], int], results: dict[int, Result]) -> None:
    """Enter what was done before the pool broke."""
    for future, place in futures.items():
        if future.done() and not future.cancelled() and future.exception() is None:
            results[place] = future.result()


def _begin(megabytes: int) -> None:
    """A process begins: it may take so much memory, and ends with the one that started it, however that ends.

    Ctrl-C reaches all processes of a terminal: the one that shows progress decides.
    """
    footprint.share(megabytes)
    footprint.limit_data()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def choose(jobs: int, scheduler: str | None) -> Workers | None:
    """The workers that the options ask for, started once; None where this process does all the work.

    They go when the program ends. UsageError for a scheduler that does not answer.
    """
    workers: Workers | None = None
    if scheduler is not None:
        workers = Cluster(scheduler)
    elif jobs > 1:
        workers = Processes(jobs)
    if workers is not None:
        atexit.register(workers.close)
    return workers


Row = tuple[int | None, tuple[int, ...], Any]
"""A node: operator, numbers of its arguments, payload. A symbol: None, nothing, its name and width (0: Boolean)."""


def pack(thing: Any) -> bytes:
    """``thing``, which may hold formulas over Booleans and bit-vectors anywhere, as bytes."""
    body = io.BytesIO()
    pickler = _Pickler(body)
    pickler.dump(thing)
    order = post_order(pickler.formulas)
    number = {node: place for place, node in enumerate(order)}
    rows = [_row(node, number) for node in order]
    kept = [(node, meanings()[node]) for node in order if node in meanings()]
    told = [
        (number[node], replace(meaning, operands=()), tuple(number[operand] for operand in meaning.operands))
        for node, meaning in kept
        if all(operand in number for operand in meaning.operands)
    ]
    return pickle.dumps((rows, told, [number[formula] for formula in pickler.formulas], body.getvalue()))


def unpack(data: bytes) -> Any:
    """What ``pack`` made the bytes of. As with all pickled data, only from one's own processes."""
    rows, told, roots, body = pickle.loads(data)
    nodes: list[FNode] = []
    create = get_env().formula_manager.create_node
    for operator, arguments, payload in rows:
        if operator is None:
            nodes.append(Symbol(payload[0], BVType(payload[1]) if payload[1] else BOOL))
        else:
            nodes.append(create(operator, tuple(nodes[a] for a in arguments), payload))
    for place, meaning, operands in told:
        meanings().setdefault(nodes[place], replace(meaning, operands=tuple(nodes[o] for o in operands)))
    return _Unpickler(io.BytesIO(body), [nodes[root] for root in roots]).load()


def _row(node: FNode, number: dict[FNode, int]) -> Row:
    if node.is_symbol():
        kind: PySMTType = node.get_type()
        return None, (), (node.symbol_name(), 0 if kind.is_bool_type() else kind.width)
    return node.node_type(), tuple(number[a] for a in node.args()), node._content.payload


class _Pickler(pickle.Pickler):
    def __init__(self, body: io.BytesIO) -> None:
        super().__init__(body)
        self.formulas: list[FNode] = []
        self._places: dict[FNode, int] = {}

    def persistent_id(self, obj: Any) -> int | None:
        if not isinstance(obj, FNode):
            return None
        if obj not in self._places:
            self._places[obj] = len(self.formulas)
            self.formulas.append(obj)
        return self._places[obj]


class _Unpickler(pickle.Unpickler):
    def __init__(self, body: io.BytesIO, formulas: Sequence[FNode]) -> None:
        super().__init__(body)
        self._formulas = formulas

    def persistent_load(self, pid: int) -> FNode:
        return self._formulas[pid]
