"""Markers for what a machine may lack: a C compiler, elkai."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from bmc.native.original import find_compiler
from chaincover.graph.explored import Reachable
from chaincover.orderings import tsp

NO_COMPILER = "needs a C compiler"
NO_ELKAI = "elkai is not installed"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs_compiler: compares with the compiled original")
    config.addinivalue_line("markers", "needs_elkai: uses the ordering tsp")


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs of the tests stay out of the user's cache, and each test begins without any."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def no_found_invariants(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search proves no invariants of its own: small systems are hard again."""
    monkeypatch.setattr(Reachable, "suggest", lambda *arguments: None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_compiler") and find_compiler() is None:
        pytest.skip(NO_COMPILER)
    if item.get_closest_marker("needs_elkai") and not tsp.available():
        pytest.skip(NO_ELKAI)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """With CHAINCOVER_REQUIRE_CC=1 a test that is skipped for want of a compiler fails, however it was marked."""
    report = yield
    if os.environ.get("CHAINCOVER_REQUIRE_CC") == "1" and report.skipped and NO_COMPILER in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: {NO_COMPILER}, and CHAINCOVER_REQUIRE_CC=1 asks for one"
    return report
