"""Goals that nothing satisfies: simulation shows most goals possible, the solver decides the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bmc.engines.anywhere import Anywhere
from bmc.engines.protocol import Engine, Status
from bmc.errors import LimitReached
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import plain, unframed
from bmc.native.differential import Sampler
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, symbols_of
from chaincover.limits import Limits
from properties.goal import Goal

SIMULATED_STEPS = 500
"""Random steps on which goals are looked for."""


class VacuitySearch:
    """Which of ``goals`` have an antecedent that no states and inputs satisfy, invariants respected.

    What ``run`` has found until it is over, or interrupted, ``unsatisfiable`` and ``undecided`` tell.
    """

    def __init__(self, system: TransitionSystem, goals: Sequence[Goal], engine: Engine) -> None:
        self._system, self._engine = system, engine
        self._status = dict.fromkeys(goals, Status.UNKNOWN)

    @property
    def unsatisfiable(self) -> tuple[Goal, ...]:
        return tuple(goal for goal, status in self._status.items() if status is Status.UNSAT)

    @property
    def undecided(self) -> tuple[Goal, ...]:
        return tuple(goal for goal, status in self._status.items() if status is Status.UNKNOWN)

    def run(self, budget: Limits, progress: Callable[[str], None] = lambda text: None) -> None:
        """Decide as many goals as ``budget`` allows, and those that the state after init satisfies in any case."""
        self._look_at_init()
        if not budget.over:
            self._simulate(budget.share(0.3))
        known = [c.formula for c in self._system.invariants if c.proved]
        anywhere = Anywhere(self._system, self._engine, [*known, self._system.defined])
        still = self.undecided
        for number, goal in enumerate(still):
            progress(f"check: whether goals can hold at all, {len(still) - number} left")
            try:
                limit = budget.for_query()
            except LimitReached:
                return
            symbols = symbols_of(goal.antecedent)
            if goal.length == 1 and all(unframed(symbol)[1] == 0 for symbol in symbols):
                formula = goal.antecedent.substitute({symbol: plain(symbol) for symbol in symbols})
                self._status[goal] = anywhere.status([formula], limit, budget.question())
            else:
                session = self._engine.session(self._system, goal.antecedent)
                self._status[goal] = session.check([], goal.length, limit, budget.question()).status

    def _look_at_init(self) -> None:
        """Note the goals that a run of no step covers."""
        run = Run((Simulator(self._system).initial(),), ())
        self._status.update((g, Status.SAT) for g in self._status if not g.length and _Watched(g).covered(run))

    def _simulate(self, budget: Limits) -> None:
        """Note the goals that random runs cover."""
        if not self.undecided:
            return
        sampler = Sampler(self._system, seed=0)
        watched = [_Watched(goal) for goal in self.undecided]
        for inputs in sampler.runs(SIMULATED_STEPS):
            run = sampler.simulator.run(sampler.simulator.initial(), inputs)
            seen = [one for one in watched if one.covered(run)]
            self._status.update((one.goal, Status.SAT) for one in seen)
            watched = [one for one in watched if one not in seen]
            if not watched or budget.over:
                return


class _Watched:
    """A goal whose antecedent is evaluated at every step of a run."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self._holds = compile_formulas([goal.antecedent])
        self._read = [(symbol.symbol_name(), *unframed(symbol)) for symbol in symbols_of(goal.antecedent)]

    def covered(self, run: Run) -> bool:
        """Whether ``run`` satisfies the whole antecedent from some step on."""
        moments = [{**state, **values} for state, values in zip(run.states, [*run.inputs, {}], strict=True)]
        return any(
            self._holds({framed: moments[start + step][name] for framed, name, step in self._read})[0]
            for start in range(run.length - self.goal.length + 1)
        )
