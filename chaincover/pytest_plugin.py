"""Fixtures for pytest: ``chain``, the chain of a project, and ``driver``, a target that it can run on.

The options name them: ``--chaincover-project``, ``--chaincover-chain`` and ``--chaincover-driver``. Nothing else is
loaded before a test asks for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from chaincover.formats.chain_file import Stimulus
    from chaincover.project.bench import Bench
    from chaincover.subject import Subject
    from chaincover.target.drivers import Driver, Value
    from chaincover.target.judge import JudgedRun

WATCHDOG = 1.0
"""Seconds for an answer of the target."""


@dataclass(frozen=True)
class ChainOnBench:
    """A chain, ready to run: ``subject`` is the program with its requirements, ``stimulus`` the inputs of the chain."""

    subject: Subject
    stimulus: Stimulus
    bench: Bench

    @property
    def steps(self) -> Sequence[Mapping[str, Value]]:
        """The inputs of each step, as numbers by the names of variables."""
        from chaincover.target.drivers.values import numbers_of

        types = {var.name: var.type for var in self.subject.system.inputs}
        return [numbers_of(types, values) for values in self.stimulus.inputs]

    def run(self, driver: Driver, paced: bool = False) -> JudgedRun:
        """Run the chain on a target, and judge it; ``paced``: a step each period of the project."""
        from chaincover.target.online import Bench, Pace
        from chaincover.target.recorded import judge_recording

        system = self.subject.system
        run = Bench(self.subject, self.stimulus, driver, self.bench.of(system), lambda line: None, "the target")
        pace = Pace(self.subject.settings.period_seconds if paced else None, self.bench.lateness)
        done = run.run(pace, self.bench.safe_inputs(system), lambda step: None)
        return judge_recording(self.subject, self.stimulus, done.recording)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the fixtures."""
    group = parser.getgroup("chaincover")
    group.addoption("--chaincover-project", metavar="PROJECT", help="The program: a folder, a project or a C file.")
    group.addoption("--chaincover-chain", metavar="CHAIN", help="The chain: chain.json or its folder.")
    group.addoption("--chaincover-driver", metavar="NAME:TEXT", help="The target, as 'chaincover run' has it.")


def _option(request: pytest.FixtureRequest, name: str) -> str:
    found = request.config.getoption(f"--chaincover-{name}")
    if not found:
        pytest.skip(f"no --chaincover-{name} is given")
    return str(found)


@pytest.fixture(scope="session")
def chain(request: pytest.FixtureRequest) -> ChainOnBench:
    """The chain that the options name, with its program."""
    from chaincover.formats.chain_file import read_stimulus
    from chaincover.project.bench import Bench
    from chaincover.project.project_file import read_project
    from chaincover.public import load

    project = _option(request, "project")
    subject = load(project)
    stimulus = read_stimulus(_option(request, "chain"), subject.system, subject.value_names)
    return ChainOnBench(subject, stimulus, read_project(project).target or Bench())


@pytest.fixture
def driver(request: pytest.FixtureRequest, chain: ChainOnBench) -> Iterator[Driver]:
    """A new connection to the target that the options name."""
    from chaincover.target.drivers import Bus
    from chaincover.target.drivers import driver as driver_of

    system = chain.subject.system
    native = getattr(chain.subject.model, "native", None)
    bus = Bus(system.inputs, system.visible_state, chain.stimulus.inputs, native, WATCHDOG)
    made = driver_of(_option(request, "driver"), bus)
    yield made
    made.close()
