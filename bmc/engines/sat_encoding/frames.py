"""A transition system unrolled in one SAT solver: the words of its variables and of formulas at each step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from pysmt.fnode import FNode

from bmc.engines.sat_encoding.clauses import ClauseTemplate, Numbers
from bmc.engines.sat_encoding.solver import SatSolver
from bmc.engines.sat_encoding.step import STATE, STEP, FramedParts, Placeable, Step, width

TRUE = 1

Bits = list[tuple[int, int, int]]
"""For each bit of a word its place in a model, the literal there where it is 1, and what it counts."""
Places = list[tuple[str, Bits]]


class Frames:
    """Frame k holds the words (literals of ``solver``, the lowest bit first) of what is known at step k."""

    def __init__(self, solver: SatSolver, framed: FramedParts, states: Iterable[FNode]) -> None:
        """``states``: the plain symbols whose words at a later step come from the step before."""
        self.solver = solver
        self.valid: list[int] = []
        self._framed = framed
        self._states = frozenset(states)
        self._words: dict[tuple[FNode, int], list[int]] = {}
        self._steps: list[Step] = []
        self._numbers: dict[tuple[int, int], Numbers] = {}
        self._placeable: dict[FNode, Placeable] = {}
        self._places: dict[tuple[int, int], tuple[Sequence[FNode], int, Places]] = {}

    def add(self, step: Step) -> int:
        """Another step is part of the unrolling, from frame 0 on; its number."""
        self._steps.append(step)
        self._open(len(self._steps) - 1, 0)
        return len(self._steps) - 1

    def place(self, number: int, frame: int) -> None:
        """Place step ``number`` between ``frame`` and the next."""
        step, numbers = self._steps[number], self._numbers[number, frame]
        self._layer(step.template, STEP, numbers)
        for symbol, word in step.after.items():
            self._words[symbol, frame + 1] = _renamed(numbers, word)
        self._open(number, frame + 1)

    def validity(self, number: int, frame: int) -> int:
        """The literal that implies that the steps up to ``frame`` are valid, made from step ``number``."""
        step, literal = self._steps[number], self.solver.fresh(1)[0]
        conditions = [
            *_renamed(self._numbers[number, frame], [step.valid]),
            *_renamed(self._numbers[number, frame + 1], [step.proved]),
            *self.valid[frame - 1 : frame],
        ]
        self.solver.add([-literal, condition] for condition in conditions)
        return literal

    def proved(self, number: int) -> None:
        """The invariants of step ``number`` hold in frame 0."""
        self.solver.add([_renamed(self._numbers[number, 0], [self._steps[number].proved])])

    def literal(self, formula: FNode, later: int = 0) -> int:
        """A literal that implies the framed ``formula``, moved ``later``."""
        if formula not in self._placeable:
            self._placeable[formula] = Placeable(formula, self._framed, self._given)
        found = self._placeable[formula]
        words = (self.word(part, step + later) for part, step in found.leaves)
        numbers = found.template.numbers(TRUE, list(chain.from_iterable(words)))
        self._layer(found.template, 0, numbers)
        return _renamed(numbers, [found.root])[0]

    def word(self, part: FNode, frame: int) -> list[int]:
        """The word of a plain symbol, or of a part of the steps; made if it is an input or a start value."""
        key = (part, frame)
        if key not in self._words:
            if part.is_symbol():
                if frame and part in self._states:
                    raise KeyError(f"{part} is not known at step {frame}")
                self._words[key] = list(self.solver.fresh(width(part)))
            else:
                number = next(n for n, step in enumerate(self._steps) if part in step.parts)
                self._words[key] = _renamed(self._numbers[number, frame], self._steps[number].parts[part])
        return self._words[key]

    def values(self, symbols: Sequence[FNode], frame: int, model: Sequence[int]) -> dict[str, int]:
        """The values of plain ``symbols`` in ``model``, by name; 0 where that leaves one open.

        Where they are is kept for the same list of symbols, which must not be changed.
        """
        kept = self._places.get((id(symbols), frame))
        if kept is None or kept[0] is not symbols or kept[1] != len(self._words):
            places = [(symbol.symbol_name(), _bits(self._words.get((symbol, frame), ()))) for symbol in symbols]
            kept = self._places[id(symbols), frame] = symbols, len(self._words), places
        return {
            name: sum([weight for place, literal, weight in bits if model[place] == literal]) for name, bits in kept[2]
        }

    def _given(self, part: FNode) -> bool:
        return any(part in step.parts for step in self._steps)

    def _open(self, number: int, frame: int) -> None:
        """Step ``number`` may be read at ``frame``, as far as it is a matter of the state."""
        step = self._steps[number]
        leaves = chain.from_iterable(self.word(symbol, frame) for symbol in step.symbols)
        self._numbers[number, frame] = numbers = step.template.numbers(TRUE, list(leaves))
        self._layer(step.template, STATE, numbers)

    def _layer(self, template: ClauseTemplate, layer: int, numbers: Numbers) -> None:
        block = template.blocks[layer]
        if not block.size and not block.owned:
            return
        fresh = self.solver.fresh(len(block.owned))
        numbers[block.owned.start : block.owned.stop] = fresh
        self.solver.add_many(block.placed(numbers))


def _renamed(numbers: Numbers, word: Sequence[int]) -> list[int]:
    return [int(numbers[local]) if local > 0 else -int(numbers[-local]) for local in word]


def _bits(word: Sequence[int]) -> Bits:
    return [(abs(literal) - 1, literal, 1 << place) for place, literal in enumerate(word)]
