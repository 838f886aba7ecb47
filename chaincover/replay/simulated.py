"""Checking a chain by simulation, independently of the solver that found it, and crediting what it covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Not

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed
from bmc.formulas.unroll import at, framed
from bmc.system.run import Run
from bmc.system.simulation import Simulator, compile_formulas
from bmc.system.transition import TransitionSystem, conjunction, equal
from chaincover.chain import Chain, Hit, Violation
from chaincover.concretise.check_path import Concretizer, Plan
from chaincover.weights import END, FINAL, INIT
from properties.goal import Goal
from properties.monitor import Monitor


class Checker:
    """Turns runs that claim to follow a plan into checked chains."""

    def __init__(self, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> None:
        self._system = system
        self._simulator = Simulator(system)
        self._monitor = Monitor(goals)
        self._final = None if final is None else compile_formulas([final])

    def plan(self, run: Run, credited: Mapping[str, int], end: str) -> Plan:
        """The plan that ``run`` follows, credited with each goal at a step, in the order of these steps."""
        steps = [0, *credited.values(), run.length]
        return Plan((INIT, *credited, end), tuple(b - a for a, b in pairwise(steps)))

    def chain(self, plan: Plan, claimed: Run) -> Chain:
        """The chain of ``claimed``: its inputs simulated again from init. CheckDisagreed if anything claimed fails."""
        run = self._replayed(claimed)
        if self._final is not None and not self._final(run.states[-1])[0]:
            raise CheckDisagreed("the chain found does not end in the final condition")
        credited = dict(zip(plan.goals, plan.starts, strict=True))
        for goal, step in credited.items():
            if not self._monitor.holds(run, goal, step):
                raise CheckDisagreed(f"the chain found does not cover {goal} at step {step}")
        covered = self._monitor.covered(run)
        return Chain(
            run=run,
            order=plan.goals,
            hits=tuple(self._hit(run, goal, step) for goal, step in credited.items()),
            repeats=tuple(
                self._hit(run, goal, step)
                for goal, steps in covered.items()
                for step in steps
                if credited.get(goal) != step
            ),
            violations=tuple(
                Violation(f"{condition.where}: {condition.name}" if condition.where else condition.name, step)
                for step in range(run.length)
                for condition in self._simulator.violated(run.states[step], run.inputs[step])
            ),
            relies_on=_open_names(self._system),
        )

    def again(self, chain: Chain) -> Chain:
        """``chain``, found on a slice of this system, with a run of all variables. CheckDisagreed as in ``chain``."""
        steps = {hit.goal: hit.step for hit in chain.hits}
        found = self.chain(self.plan(chain.run, steps, END if self._final is None else FINAL), chain.run)
        hits = tuple(self._hit(found.run, hit.goal, hit.step) for hit in chain.hits)
        repeats = tuple(self._hit(found.run, hit.goal, hit.step) for hit in chain.repeats)
        if (hits, repeats) != (chain.hits, chain.repeats):
            raise CheckDisagreed("a consequent holds on the sliced system and fails on the whole one, or the reverse")
        return replace(chain, run=found.run, violations=found.violations)

    def _replayed(self, claimed: Run) -> Run:
        """``claimed`` simulated from init; only open start values are taken from it, where it has them."""
        given = claimed.states[0]
        start = {v.name: given[v.name] for v in self._system.state if v.init is None and v.name in given}
        run = self._simulator.run(self._simulator.initial(start), claimed.inputs)
        for step, (state, inputs) in enumerate(zip(run.states, run.inputs, strict=False)):
            if not self._simulator.allowed(state, inputs):
                raise CheckDisagreed(f"step {step} of the chain found breaks the input constraint or is undefined")
        return run

    def _hit(self, run: Run, goal: str, step: int) -> Hit:
        return Hit(goal, step, self._monitor.judge(run, goal, step))


def _open_names(system: TransitionSystem) -> tuple[str, ...]:
    return tuple(var.name for var in system.state if var.init is None and var.name not in system.chosen)


def start_dependence(tools: Concretizer, plan: Plan, run: Run) -> tuple[str, ...]:
    """The variables that init leaves open and the tester does not choose, unless the chain works for all their values.

    One query: is there a start with which the inputs of ``run`` break a constraint, miss a goal of ``plan`` or the end?
    """
    system = tools.system
    names = _open_names(system)
    if not names:
        return ()
    free = replace(system, input_constraint=TRUE(), defined=TRUE(), invariants=())
    chosen = [
        equal(framed(var.symbol, 0), var.type.constant(run.states[0][var.name]))
        for var in system.state
        if var.name in system.chosen
    ]
    given = [
        equal(framed(var.symbol, step), var.type.constant(values[var.name]))
        for step, values in enumerate(run.inputs)
        for var in system.inputs
    ]
    step_ok = system.input_constraint.And(system.defined)
    formulas, _ = tools.all_formulas(plan)
    wanted = conjunction([*formulas, *(at(step_ok, step) for step in range(run.length))])
    source = conjunction([at(system.init_formula, 0), *chosen])
    session = tools.engine.session(free, source, [wanted])
    answer = session.check([*given, Not(wanted)], run.length, tools.budget.for_query())
    return () if answer.status is Status.UNSAT else names
