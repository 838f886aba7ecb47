"""Inputs to be tried in each state, mode by mode.

In a state in which some variables have certain values a step does what is left of it with these values put in, and that
tells fewer inputs apart than the whole step does. So the inputs that stand for all others are found for each
combination of values by itself: their numbers add up, where for all states at once they multiply. The variables are
those of few values that leave the least of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from math import prod

import numpy as np
from pysmt.fnode import FNode

from bmc.analysis.constants import put_in
from bmc.evaluation.vectors import node_count
from bmc.explicit.input_classes import TooManyValues, combined_classes, input_tables, merged_classes
from bmc.explicit.rows import Rows
from bmc.explicit.scope import Inputs, Scope
from bmc.explicit.splitting import TooManyCases
from bmc.records import dataclass

MOST_MODES = 32
"""Modes of one system. With twice as many, fewer inputs are tried in each state, and it takes longer to find these."""

FEW = 256
"""Combinations of inputs that are tried in each state, whatever its mode. With twice as many, small systems are
searched sooner, and others later."""

LEFT = 0.8
"""The part of a step that is left, on average, with a value of a variable of modes put in, at most. With more,
variables that decide little take the place of modes."""

Values = tuple[str, Sequence[int]]
"""A variable, and its raw values."""


@dataclass(frozen=True)
class Modes:
    """``rows`` has the inputs to try, mode by mode: those of the mode of number n from ``begins[n]`` on, to the next.

    The modes are the combinations of ``values``, those of the last variable changing first.
    """

    values: tuple[Values, ...]
    rows: Rows
    begins: tuple[int, ...]


def inputs_by_mode(scope: Scope, domains: Sequence[Values], spend: Callable[[int], None]) -> Modes:
    """The inputs to try, mode by mode, where they are many; the modes are over some of the variables of ``domains``.

    ``spend`` is told of operations on values. TooManyValues where inputs cannot be divided into few enough classes.
    """
    inputs, found = Inputs(scope), None
    for work in inputs.tabulate():
        spend(work)
    if inputs.tables is not None and inputs.tables.size > FEW:
        with suppress(TooManyValues, TooManyCases):
            for step in modes(scope, domains):
                if isinstance(step, Modes):
                    found = step
                else:
                    spend(step)
    if found is not None:
        return found
    for work in inputs.combine():
        spend(work)
    if inputs.every is None:
        raise TooManyValues("the inputs have too many combinations to be tried in every state")
    return Modes((), inputs.every, (0, len(inputs.every)))


def modes(scope: Scope, domains: Sequence[Values]) -> Iterator[int | Modes]:
    """Yields the work done, now and then, and at last the inputs by modes, over some of the variables of ``domains``.

    TooManyCases or TooManyValues where inputs cannot be divided into few enough classes in one of the modes.
    """
    some: tuple[Values, ...] = ()
    for step in _ranked(scope, domains):
        if isinstance(step, int):
            yield step
        elif prod(len(raw) for _, raw in (*some, step)) <= MOST_MODES:
            some = (*some, step)
    parts: list[Rows] = []
    for chosen in product(*(raw for _, raw in some)):
        left = put_in(scope.roots, dict(zip((name for name, _ in some), chosen, strict=True)))
        for found in _classes(scope, left):
            if isinstance(found, int):
                yield found
            else:
                parts.append(found)
    names = [*parts[0].columns]
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in names}
    begins = np.cumsum([0, *map(len, parts)])
    yield Modes(some, Rows(columns, int(begins[-1])), tuple(begins.tolist()))


def _ranked(scope: Scope, domains: Sequence[Values]) -> Iterator[int | Values]:
    """The work done, and those of ``domains`` whose values leave the least of a step, first that which leaves least."""
    whole, left = node_count(scope.roots), dict[str, float]()
    for name, raw in domains:
        if len(raw) <= MOST_MODES:
            left[name] = sum(node_count(put_in(scope.roots, {name: value})) for value in raw) / len(raw)
            yield whole * len(raw)
    by_name = dict(domains)
    for name in sorted(left, key=lambda each: left[each]):
        if left[name] <= LEFT * whole:
            yield name, by_name[name]


def _classes(scope: Scope, left: Sequence[FNode]) -> Iterator[int | Rows]:
    """The work done, and one combination of inputs for each class that ``left`` of a step tells apart."""
    for step in input_tables(scope.system.inputs, left):
        if isinstance(step, int):
            yield step
            continue
        rows = combined_classes(step, left, [left[0]])
        if rows is None:
            yield from merged_classes(step, left)
        else:
            yield rows
