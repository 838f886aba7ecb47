"""The machines of a Dask cluster.

A worker that is lost loses nothing but time: its tasks are done again. Results come in the order of the tasks,
whatever the order in which they were done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, TypeVar

from bmc.errors import UsageError

Task = TypeVar("Task")
Result = TypeVar("Result")

ANSWER = 10
"""Seconds in which a scheduler has to answer."""

LOOK = 5.0
"""Seconds without a result after which it is looked at whether a cluster still has workers."""


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

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], done: Callable[[int], None]
    ) -> list[Result]:
        """``function`` of each task, in their order; ``done`` is told how many are. An error of a task is raised here.

        ``function`` is a module's own, tasks and results are plain data. Dask gives a lost worker's tasks to others;
        those that nobody does are done here.
        """
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

    def _collect(self, futures: dict[Any, int], results: dict[int, Result], done: Callable[[int], None]) -> None:
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
        """How many tasks are done at a time."""
        return max(1, self._threads())

    def _threads(self) -> int:
        """The threads of all workers; 0 where the scheduler is lost."""
        try:
            return sum(self._client.nthreads().values()) if self._client.status == "running" else 0
        except self._lost:
            return 0

    def close(self) -> None:
        """Let the workers go, whatever they are doing."""
        self._client.close()
