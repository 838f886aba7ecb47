"""Ordering ``cpsat``: one circuit constraint in the CP-SAT solver of OR-tools; proves its answer."""

from __future__ import annotations

import math
import sys
import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from bmc import ending
from bmc.engines.protocol import SEED
from bmc.errors import UsageError
from chaincover.orderings.constraints import Answer, PathModel, outcome, path_model
from chaincover.orderings.protocol import UNLIMITED, Clock, Limit, OrderingProblem, OrderingResult

MODULE = "ortools.sat.python.cp_model"


def available() -> bool:
    """Whether OR-tools can be imported."""
    return find_spec("ortools") is not None


@cache
def cp_model() -> Any:
    """OR-tools' module of models and their solver. ImportError where OR-tools is not installed.

    It is a copy of its own, and names two types of pandas: tables of variables, of which nothing here knows. To import
    pandas takes half a second and 40 MB, more than most orderings. Where pandas is there already, or two types do not
    do, it is OR-tools' own module.
    """
    spec = find_spec(MODULE)
    if spec is None or spec.loader is None or "pandas" in sys.modules:
        return import_module(MODULE)
    found, pandas = module_from_spec(spec), ModuleType("pandas")
    for name in ("Index", "Series"):
        setattr(pandas, name, type(name, (), {}))
    sys.modules["pandas"] = pandas
    try:
        spec.loader.exec_module(found)
        return found
    except (AttributeError, ImportError):  # OR-tools of another version wants more of pandas
        pass
    finally:
        del sys.modules["pandas"]
    return import_module(MODULE)


class CpsatOrdering:
    """Shortest path for any number of nodes and any path constraints; one thread and a fixed seed, so repeatable."""

    name = "cpsat"

    def solve(self, problem: OrderingProblem, limit: Limit = UNLIMITED) -> OrderingResult:
        """The shortest path with its proof, or the best one found within ``limit`` with the bound proved until then.

        UsageError if OR-tools is not installed.
        """
        if not available():
            raise UsageError(
                "the ordering cpsat needs OR-tools", hint="pip install 'chaincover[ortools]', or use the ordering auto"
            )
        module, clock = cp_model(), Clock(limit)
        paths = path_model(problem)
        if not paths.can_close:
            return outcome(problem, Answer(self.name), clock)
        model = module.CpModel()
        chosen = _state(model, paths)
        solver = module.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = SEED
        solver.parameters.linearization_level = 2
        solver.parameters.catch_sigint_signal = False
        if limit.seconds is not None:
            solver.parameters.max_time_in_seconds = limit.seconds
        if limit.work is not None:
            solver.parameters.max_deterministic_time = limit.work
        status = _interruptible(solver, model)
        if status == module.INFEASIBLE:
            return outcome(problem, Answer(self.name), clock)
        found = status in (module.OPTIMAL, module.FEASIBLE)
        after = {a: b for (a, b), literal in chosen.items() if solver.boolean_value(literal)} if found else {}
        lower = solver.best_objective_bound
        bound = max(0, math.ceil(lower - 1e-6)) if math.isfinite(lower) else 0
        path = paths.path(after) if found else ()
        return outcome(problem, Answer(self.name, path, bound, status == module.OPTIMAL), clock)


def _state(model: Any, paths: PathModel) -> dict[tuple[int, int], Any]:
    """State the problem in ``model``; a literal for each edge that says whether it is chosen."""
    chosen = {edge: model.new_bool_var(f"{edge[0]}-{edge[1]}") for edge in paths.edges}
    closing = model.new_constant(1)
    model.add_circuit([(a, b, literal) for (a, b), literal in chosen.items()] + [(paths.end, 0, closing)])
    for edges in paths.forbidden:
        model.add_bool_or([~chosen[edge] for edge in edges])
    delay = {node: model.new_int_var(0, most, f"delay-{node}") for node, most in paths.most_delay.items()}
    for excess in paths.excesses:
        delays = sum(delay[node] for node in excess.delayed)
        model.add(delays >= excess.steps).only_enforce_if([chosen[edge] for edge in excess.edges])
    model.minimize(sum(weight * chosen[edge] for edge, weight in paths.edges.items()) + sum(delay.values()))
    return chosen


def _interruptible(solver: Any, model: Any) -> Any:
    """The status of ``solver`` on ``model``; KeyboardInterrupt ends the search and is passed on."""
    answers: list[Any] = []
    done = threading.Event()

    def work() -> None:
        try:
            answers.append(solver.solve(model))
        finally:
            done.set()

    thread = threading.Thread(target=work, daemon=True)
    try:
        thread.start()
        with ending.interruptible(0.0):
            done.wait()
    except BaseException:
        while thread.is_alive() and not done.wait(0.05):
            solver.stop_search()
        raise
    if not answers:
        raise RuntimeError("the CP-SAT solver ended without an answer")
    return answers[0]
