"""What the claims of one chain speak about, and runs judged by simulation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from pysmt.fnode import FNode

from bmc.formulas.evaluate import compile_formulas
from bmc.records import dataclass
from bmc.system.original import Opener
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.certificate import Certificate
from chaincover.claims import Claim
from chaincover.problem import Problem
from chaincover.weights import INIT
from properties.monitor import Monitor


@dataclass(frozen=True)
class Setting(Problem):
    """The system, all its goals, the final condition and the overlap, and what simulation tells of a run.

    ``oldest``: so many steps before its last one some goal began that was made one of a step by monitors.
    """

    oldest: int = 0

    @property
    def formulas(self) -> list[FNode]:
        """All framed formulas that claims can be about."""
        return [*(goal.antecedent for goal in self.goals), *self.end_formulas(0)]

    def knows(self, nodes: Sequence[str]) -> bool:
        """Whether ``nodes`` can follow each other: goals, each once, but for init at the front and the end at the end.

        A path has at least two nodes.
        """
        first, last = nodes[:1] == (INIT,), nodes[-1:] == (self.end,)
        inner = nodes[first : len(nodes) - last]
        return len(nodes) > 1 and len(set(inner)) == len(inner) and all(node in self.by_name for node in inner)

    @cached_property
    def _simulator(self) -> Simulator:
        return Simulator(self.system)

    @cached_property
    def _monitor(self) -> Monitor:
        return Monitor(list(self.goals))

    def sound(self, run: Run) -> int:
        """How many steps of ``run`` from its beginning are allowed and defined."""
        pairs = zip(run.states, run.inputs, strict=False)
        return next((k for k, (s, i) in enumerate(pairs) if not self._simulator.allowed(s, i)), run.length)

    def starts_in_init(self, run: Run) -> bool:
        """Whether ``run`` begins in a start state."""
        return bool(compile_formulas([self.system.init_formula])(run.states[0])[0])

    def covered(self, run: Run) -> dict[str, list[int]]:
        """For each goal the steps from which ``run`` covers it."""
        return self._monitor.covered(run)

    def ends_well(self, run: Run, step: int) -> bool:
        """Whether a chain may end after ``step`` steps of ``run``."""
        return self.final is None or bool(compile_formulas([self.final])(run.states[step])[0])


@dataclass(frozen=True)
class Statement:
    """What is to be proved again: ``claims`` about runs of ``setting``, whose steps the ``original``
    takes, and the certificate ``proof`` that they rest on.

    A chain covers the goals ``covered`` (None: there is none), and none is shorter than ``lower``. ``invariants`` of
    the program are said to be proved. ``beyond`` are goals with a test that is too long to be stored.
    """

    setting: Setting
    original: Opener
    proof: Certificate | None
    claims: Sequence[Claim]
    covered: Sequence[str] | None = None
    lower: int = 0
    invariants: Sequence[str] = ()
    beyond: Collection[str] = ()
