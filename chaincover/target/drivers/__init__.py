"""What drives a target on line: one driver a file, found by its name.

A driver of another package is an entry point of the group ``GROUP``: ``name = "module:function"``, a function of the
text behind the name and of a ``Bus`` that gives a ``Driver``. It is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Protocol

from bmc.errors import ChainCoverError, UsageError
from bmc.records import dataclass
from bmc.system.original import NativeInterface
from bmc.system.transition import InputVariable, StateVariable, Valuation
from chaincover.plug_ins import entry_points

GROUP = "chaincover.drivers"
"""The group of entry points by which other packages add drivers."""

OWN = {
    "library": "chaincover.target.drivers.library:library",
    "process": "chaincover.target.drivers.process:process",
    "python": "chaincover.target.drivers.python:python",
    "serial": "chaincover.target.drivers.serial:serial",
}
"""The drivers of this package; no other package takes the place of one."""
NEEDS_SAFE = frozenset({"serial", "can"})
"""Drivers of targets that move something: they do not start without safe inputs."""
TO_START = 10.0
"""Seconds for the first answer at least, as a target may have to be loaded first. Twice as many: one that never starts
is lost so much later."""

Value = int | float | str
Values = Mapping[str, Value]
"""Values by the names of variables: numbers, or the words ``nan``, ``inf`` and ``-inf``; never labels."""


class TargetLost(ChainCoverError):
    """The target does not answer, answers what it must not, or was reset: its state is not known any more."""


@dataclass(frozen=True)
class Bus:
    """What goes to a target and comes back: ``inputs`` to it, and ``outputs`` from it, in this order.

    ``inputs_of_chain`` are those of each step, for drivers that can make use of it; ``native`` says where variables are
    in a compiled C program, None for other models. A target that does not answer within ``watchdog`` seconds is lost.
    """

    inputs: Sequence[InputVariable]
    outputs: Sequence[StateVariable]
    inputs_of_chain: Sequence[Valuation]
    native: NativeInterface | None
    watchdog: float


class Driver(Protocol):
    """A target under control. Each method raises TargetLost where the target fails."""

    def reset(self) -> Values:
        """Reset the target; what it has before the first step, as far as that is known."""

    def step(self, inputs: Values) -> Values:
        """One step under ``inputs``; what it has after it. Answers of the environment may be among them: inputs that
        the bench itself gave other values."""

    def close(self) -> None:
        """End the connection; the target is left as it is."""


def drivers() -> dict[str, str]:
    """Where each driver is, ``module:function`` by its name; those of other packages last."""
    return OWN | {name: place for name, place in entry_points(GROUP).items() if name not in OWN}


def kind_of(spec: str) -> str:
    """The name of the driver that ``spec``, ``NAME:REST``, asks for. UsageError if there is none of that name."""
    name = spec.partition(":")[0]
    if name not in drivers():
        hint = f"write NAME:TEXT with one of {', '.join(drivers())}"
        raise UsageError(f"no driver is called {name!r}", hint=hint)
    return name


def driver(spec: str, bus: Bus) -> Driver:
    """The driver that ``spec`` asks for, with its target. UsageError if it cannot be made, TargetLost if its target
    does not answer."""
    name, rest = kind_of(spec), spec.partition(":")[2]
    module, _, function = drivers()[name].partition(":")
    try:
        made: Driver = getattr(import_module(module), function)(rest, bus)
    except ChainCoverError:
        raise
    except Exception as error:
        if name in OWN:
            raise
        hint = "install that package again, or remove it"
        raise UsageError(f"the driver {name} of another package cannot be loaded: {error}", hint=hint) from None
    return made
