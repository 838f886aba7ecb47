"""Markers for what a machine may lack, and which skips are allowed."""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker

from bmc.footprint import taken
from bmc.native import narrow
from bmc.native.original import find_compiler

os.environ["CHAINCOVER_CACHE"] = "off"  # nothing of other runs, and nothing for them

GARBAGE = 500 << 20
"""Bytes more than after the last time for which garbage is collected: workers came to 11 GB without."""

ALLOWED_SKIPS = tomllib.loads((Path(__file__).parent / "allowed_skips.toml").read_text(encoding="utf-8"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--evidence", action="store_true", help="run the tests that are too long for the suite, alone")


class AnyOrder(pytest.Dir):
    """A folder whose files are collected in an order of this worker's own: each worker then compiles other tests than
    the rest do at that time, and finds the bytecode of those that another one has compiled."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        entries = [*super().collect()]
        random.Random(os.environ["PYTEST_XDIST_WORKER"]).shuffle(entries)
        return entries


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return AnyOrder.from_parent(parent, path=path) if "PYTEST_XDIST_WORKER" in os.environ else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The suite has the tests that are not evidence; with --evidence it is the other way round. All workers have them
    in one order."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.path)
    wanted, others = [], []
    for item in items:
        evidence = item.get_closest_marker("evidence") is not None
        (wanted if evidence == config.getoption("evidence") else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = wanted


def keep_bytecode(config: pytest.Config) -> None:
    """Keep bytecode in a folder of this session where none is to be written beside the sources: else every process
    that a test starts would compile all modules again, which takes a second and more."""
    folder = tempfile.TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder.name
    sys.dont_write_bytecode = False


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: not in the fast subset (-m 'not slow')")
    config.addinivalue_line("markers", "evidence: too long for the suite; `python -m benchmarks tests` runs these")
    config.addinivalue_line("markers", "needs_compiler: compares with the compiled original")
    config.addinivalue_line("markers", "needs_narrow: compiles and runs programs of 32 bits")
    config.addinivalue_line("markers", "needs_abc: asks the model checker ABC")
    config.addinivalue_line("markers", "needs(package): uses a package that is not always installed")
    config.addinivalue_line("markers", "needs_signals: sends a signal to one process")
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        keep_bytecode(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it for what runs in its background
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: some tests wait for the end of a time limit or of another process."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A worker that has nothing left to do takes tests over from another one."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is loaded by now stays: no search for garbage has to look at it."""
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    gc.set_threshold(20_000, 20, 20)  # a command in this process may have raised it
    if item.get_closest_marker("needs_compiler") and find_compiler() is None:
        pytest.skip("needs a C compiler")
    if item.get_closest_marker("needs_narrow") and not narrow.usable():
        pytest.skip("needs programs of 32 bits")
    if item.get_closest_marker("needs_abc") and shutil.which(os.environ.get("ABC", "berkeley-abc")) is None:
        pytest.skip("needs ABC")
    if item.get_closest_marker("needs_signals") and sys.platform == "win32":
        pytest.skip("needs POSIX signals")
    for marker in item.iter_markers("needs"):
        if find_spec(marker.args[0]) is None:
            pytest.skip(f"needs {marker.args[0]}")


kept = 0
"""Bytes that this worker took after garbage was last collected."""


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Few objects of solvers can take gigabytes, of which Python's collector counts no more than that they are few."""
    global kept
    if taken() > kept + GARBAGE:
        gc.collect()
        kept = taken()


def skip_is_allowed(reason: str, tables: str) -> bool:
    """Whether one of ``tables`` of allowed_skips.toml, joined by commas, has ``reason`` for this environment."""
    markers = [ALLOWED_SKIPS[table][reason] for table in tables.split(",") if reason in ALLOWED_SKIPS[table]]
    return any(not marker or Marker(marker).evaluate() for marker in markers)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Where CHAINCOVER_ALLOWED_SKIPS names tables of allowed_skips.toml, a skip for another reason is a failure."""
    report = yield
    tables = os.environ.get("CHAINCOVER_ALLOWED_SKIPS")
    if tables and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not skip_is_allowed(reason, tables):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: skipped ({reason}), which tests/allowed_skips.toml does not allow here"
    return report
