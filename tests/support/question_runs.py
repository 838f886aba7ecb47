"""Questions for model checkers, run and answered by looking at every state: nothing but tests needs this."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from foreign_models import AigerFile, Btor2File, bit_of, word_in

from bmc.formulas.evaluate import compile_formulas
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, Valuation
from chaincover.exporters.aiger import FIRST, UNUSED, Aiger
from chaincover.exporters.btor2 import Btor2
from chaincover.exporters.protocol import Question


def values_of(var: StateVariable | InputVariable, below: int = 10**9) -> range:
    """All raw values of a variable, or those ``below``."""
    return range(min(1 << max(var.type.bits, 1), below))


def starts(question: Question) -> Iterator[Valuation]:
    """All start states of the question's system."""
    system = question.system
    fixed = Simulator(system).initial()
    opened = [var for var in system.state if var.init is None]
    for values in product(*map(values_of, opened)):
        yield {**fixed, **{var.name: value for var, value in zip(opened, values, strict=True)}}


def first_bad(question: Question, most: int = 10**9, below: int = 10**9) -> int | None:
    """The least frame of a bad state, by a breadth-first search over all states; None: none up to frame ``most``.

    Of inputs the values ``below`` are tried.
    """
    system, bad = question.system, compile_formulas([question.bad])
    names = [var.name for var in system.state]
    simulator = Simulator(system)
    inputs = [dict(zip((v.name for v in system.inputs), given, strict=True)) for given in _all_inputs(question, below)]
    layer = {tuple(state[name] for name in names) for state in starts(question)}
    seen, frame = set(layer), 0
    while layer and frame <= most:
        states = [dict(zip(names, values, strict=True)) for values in layer]
        if any(bad(state)[0] for state in states):
            return frame
        after = (simulator.step(state, given) for state in states for given in inputs)
        layer = {tuple(state[name] for name in names) for state in after} - seen
        seen |= layer
        frame += 1
    return None


def _all_inputs(question: Question, below: int) -> Iterator[tuple[int, ...]]:
    return product(*(values_of(var, below) for var in question.system.inputs))


@dataclass
class Files:
    """A question as AIGER and as BTOR2, read again and run beside the question's own system."""

    question: Question

    def __post_init__(self) -> None:
        self.simulator = Simulator(self.question.system)
        self.bad = compile_formulas([self.question.bad])
        self.aiger = AigerFile.read(Aiger().write(self.question))
        self.btor2 = Btor2File.read(Btor2().write(self.question))
        self.names = {"_".join(var.name.split()): var.name for var in self.question.system.state}
        given = {"_".join(var.name.split()): var.name for var in self.question.system.inputs}
        self.given = given

    def agree(self, start: Valuation, inputs: list[Valuation], rng: random.Random) -> list[bool]:
        """Run all three from ``start``; AssertionError where states or bad differ. Where bad was true, by frame."""
        state, found = dict(start), []
        system = self.question.system
        opened = {f"{name} at start" for name in self.aiger.latches}
        latches = self.aiger.start()
        words = self.btor2.start({name: start[own] for name, own in self.names.items()})
        for frame, values in enumerate([*inputs, inputs[-1] if inputs else {v.name: 0 for v in system.inputs}]):
            is_bad = bool(self.bad(state)[0])
            self._same_state(state, latches, words, frame)

            def bit(name: str, frame: int = frame, values: Mapping[str, int] = values) -> int:
                if name in opened:
                    return rng.randint(0, 1) if frame else bit_of(start, name.removesuffix(" at start"))
                return bit_of(values, name)

            latches, aiger_bad = self.aiger.step(latches, bit)
            words, btor2_bad = self.btor2.step(words, {name: values[own] for name, own in self.given.items()})
            assert (aiger_bad, btor2_bad) == (is_bad, is_bad), frame
            found.append(is_bad)
            state = dict(self.simulator.step(state, values))
        return found

    def _same_state(self, state: Valuation, latches: list[int], words: Mapping[int, int], frame: int) -> None:
        """The files' states are those of the system; open latches are read from the second frame on."""
        bits = dict(zip(self.aiger.latches, latches, strict=True))
        assert bits.pop(FIRST, int(frame == 0)) == (frame == 0)
        bits.pop(UNUSED, None)
        for var in self.question.system.state:
            if frame or var.init is not None:
                assert word_in(bits, var.name, var.type.bits) == state[var.name], (frame, var.name)
        numbers = self.btor2.of_kind("state")
        assert {self.names[name]: words[number] for name, number in numbers.items()} == dict(state)
