"""What is tried where no repair of the least order gives a chain."""

from __future__ import annotations

from collections.abc import Sequence

from bmc.system.run import Run
from chaincover.concretise.any_order import AnyOrder
from chaincover.concretise.check_path import Concretizer
from chaincover.concretise.path_constraints import constrained_chain
from chaincover.concretise.path_trial import Outcome, Task
from chaincover.concretise.refine import refined_chain
from chaincover.options import Options
from chaincover.runs.nearest import NearestFirst


def by_other_orders(task: Task, options: Options, ordered_by: str) -> Outcome:
    """Algorithm 5 with orderings that prove nothing, else forbidden sub-paths; ``repair`` of ``options`` decides.

    ``ordered_by`` is the backend that found the least order. LimitReached when time is over.
    """
    refine = ordered_by in ("tsp", "local") if options.repair == "auto" else options.repair == "refine"
    task.progress(f"repair: {'refine' if refine else 'path constraints'}")
    return (refined_chain if refine else constrained_chain)(task)


def by_nearest(
    tools: Concretizer, names: Sequence[str], overlap: str, limit: int, partial: bool = False
) -> tuple[Run, dict[str, int]] | None:
    """A run that goes on to the nearest goal each time, and the step credited to each goal, in this order.

    ``limit`` is the most steps to a goal's start. ``partial``: through as many of ``names`` as this way leads to, else
    None unless all are covered. LimitReached when time is over.
    """
    way = NearestFirst(tools, names, overlap, limit)
    run = None if partial else way.run()
    found = way.partial() if partial else None if run is None else (run, tuple(names))
    if found is None:
        return None
    any_order = AnyOrder({name: tools.goals[name] for name in names}, overlap)
    return found[0], any_order.credited(found[0], found[1])
