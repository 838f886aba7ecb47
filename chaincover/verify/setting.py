"""What the claims of one chain speak about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pysmt.fnode import FNode

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import StateVariable, TransitionSystem
from chaincover.reductions.slicing import plain_symbols, sliced
from chaincover.weights import END, FINAL, INIT
from properties.goal import Goal
from properties.monitor import Monitor


@dataclass(frozen=True)
class Setting:
    """The system, all its goals by name, the final condition (over plain symbols, None: anywhere) and the overlap."""

    system: TransitionSystem
    goals: dict[str, Goal]
    final: FNode | None
    overlap: str

    @property
    def end(self) -> str:
        """The name of the end node."""
        return END if self.final is None else FINAL

    @property
    def formulas(self) -> list[FNode]:
        """All framed formulas that claims can be about."""
        ends = [] if self.final is None else [at(self.final, 0)]
        return [*(goal.antecedent for goal in self.goals.values()), *ends]

    @cached_property
    def least_cone(self) -> tuple[StateVariable, ...]:
        """The fewest variables that a search may have looked at; no proof here rests on it."""
        part = replace(sliced(self.system, tuple(self.goals.values()), self.final), invariants=())
        return part.cone(plain_symbols(self.formulas))

    def length(self, node: str) -> int:
        """J in steps of a goal; 0 for init and the end."""
        return self.goals[node].length if node in self.goals else 0

    def gap(self, node: str) -> int:
        """Steps after the start of ``node`` before which the next node may not start."""
        return self.length(node) if self.overlap == "forbid" else 0

    def knows(self, nodes: Sequence[str]) -> bool:
        """Whether ``nodes`` can follow each other: goals, each once, but for init at the front and the end at the end.

        A path has at least two nodes.
        """
        first, last = nodes[:1] == (INIT,), nodes[-1:] == (self.end,)
        inner = nodes[first : len(nodes) - last]
        return len(nodes) > 1 and len(set(inner)) == len(inner) and all(node in self.goals for node in inner)

    @cached_property
    def _simulator(self) -> Simulator:
        return Simulator(self.system)

    @cached_property
    def _monitor(self) -> Monitor:
        return Monitor(list(self.goals.values()))

    def sound(self, run: Run) -> int:
        """How many steps of ``run`` from its beginning are allowed and defined."""
        pairs = zip(run.states, run.inputs, strict=False)
        return next((k for k, (s, i) in enumerate(pairs) if not self._simulator.allowed(s, i)), run.length)

    def starts_in_init(self, run: Run) -> bool:
        """Whether ``run`` begins in a start state."""
        initial = self._simulator.initial()
        return all(run.states[0][v.name] == initial[v.name] for v in self.system.state if v.init is not None)

    def covered(self, run: Run) -> dict[str, list[int]]:
        """For each goal the steps from which ``run`` covers it."""
        return self._monitor.covered(run)

    def ends_well(self, run: Run, step: int) -> bool:
        """Whether a chain may end after ``step`` steps of ``run``."""
        return self.final is None or bool(compile_formulas([self.final])(run.states[step])[0])
