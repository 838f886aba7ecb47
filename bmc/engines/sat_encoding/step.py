"""One step of a transition system as a template of clauses, framed formulas likewise, and the unrolled system.

The words of a system's variables and of formulas at each step lie in one SAT solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from pysmt.fnode import FNode
from pysmt.shortcuts import get_env

from bmc.analysis.state_values import input_values, raw_ranges
from bmc.analysis.values import Evaluation, narrowed
from bmc.engines.protocol import GATE, WORK, Cost
from bmc.engines.sat_encoding.aig import TRUE, Graph
from bmc.engines.sat_encoding.blast import Blaster, Word
from bmc.engines.sat_encoding.clauses import EQUIVALENT, IMPLIES, ClauseTemplate, Numbers
from bmc.engines.sat_encoding.solver import SatSolver
from bmc.floats.compare import facts_of_order
from bmc.floats.operations import Program
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import meanings
from bmc.formulas.unroll import plain, unframed
from bmc.system.transition import StateVariable, TransitionSystem, conjunction, proved_invariants, symbols_of

NONE, SEVERAL = -1, -2
"""Instead of a step: a formula without symbols, one that speaks of more than one step."""


class FramedParts:
    """Knows of each part of framed formulas of which step it speaks, and what it says of that step."""

    def __init__(self) -> None:
        self._known: dict[FNode, tuple[int, FNode]] = {}
        self._create = get_env().formula_manager.create_node

    def of(self, formula: FNode) -> tuple[int, FNode]:
        """The step that ``formula`` speaks of, and the formula over plain symbols.

        Without symbols, or over several steps, it is NONE or SEVERAL with the formula itself.
        """
        stack = [formula]
        while stack:
            node = stack[-1]
            if node in self._known:
                stack.pop()
                continue
            missing = [arg for arg in node.args() if arg not in self._known]
            if missing:
                stack.extend(missing)
            else:
                self._known[node] = self._told(node)
        return self._known[formula]

    def parts(self, formula: FNode) -> Iterator[tuple[int, FNode]]:
        """The largest parts of ``formula`` that each speak of one step: the step, and the part over plain symbols."""
        todo, seen = [formula], set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            step, told = self.of(node)
            if step == SEVERAL:
                todo.extend(reversed(node.args()))
            elif step != NONE:
                yield step, told

    def _told(self, node: FNode) -> tuple[int, FNode]:
        if node.is_symbol():
            return unframed(node)[1], plain(node)
        args = [self._known[arg] for arg in node.args()]
        steps = {step for step, _ in args} - {NONE}
        if len(steps) != 1:
            return (SEVERAL if steps else NONE), node
        step = steps.pop()
        if step == SEVERAL:
            return SEVERAL, node
        return step, self._create(node.node_type(), tuple(told for _, told in args), node._content.payload)


LEAST, PART = 5.0, 0.5
"""Translating one step may take so many units of effort, and this part of what is left of the run's."""

STATE, STEP = 0, 1
"""The layers of a step: what is a matter of the state alone, and the rest."""


def width(formula: FNode) -> int:
    """The number of bits of a Boolean (1) or bit-vector."""
    kind = formula.get_type()
    return 1 if kind.is_bool_type() else int(kind.width)


Key = TypeVar("Key")


def _inputs(graph: Graph, made: dict[Key, Word], key: Key, bits: int) -> Word:
    """The word of inputs for ``key``, made when it is first asked for."""
    if key not in made:
        made[key] = [graph.fresh() for _ in range(bits)]
    return made[key]


def _gates(words: Mapping[Key, Word]) -> list[int]:
    return [bit >> 1 for word in words.values() for bit in word]


def _layers(system: TransitionSystem, parts: Iterable[FNode]) -> dict[FNode, int]:
    """The layer of each part."""
    states = {var.symbol for var in system.state}
    return {part: STATE if states.issuperset(symbols_of(part)) else STEP for part in parts}


def _equivalent(words: Iterable[Word]) -> dict[int, int]:
    """The bits of ``words``, each equivalent to what it stands for."""
    return {bit: EQUIVALENT for word in words for bit in word}


def _local(template: ClauseTemplate, words: Mapping[FNode, Word]) -> dict[FNode, list[int]]:
    """The local variables of the bits of ``words``."""
    return {key: [template.local(bit) for bit in word] for key, word in words.items()}


def always_possible(system: TransitionSystem) -> bool:
    """Whether it is plain that every state has a valid step: what makes it valid is a matter of the inputs alone.

    Then validity, and what is proved of all states, may be asserted at every step, also after those of a question.
    """
    restrictions = [system.input_constraint, system.defined]
    inputs = {var.symbol for var in system.inputs}
    if not all(inputs.issuperset(symbols_of(part)) for part in restrictions):
        return False
    first = {var.name: raw_ranges(var)[0][0] for var in system.inputs}
    return all(compile_formulas(restrictions)(first))


def facts_of_orders(system: TransitionSystem, variables: Sequence[StateVariable]) -> list[FNode]:
    """What the order of numbers says of the floating-point operations in the step of ``variables``: always true."""
    if not meanings():
        return []
    program = Program([var.next for var in variables])
    values = Evaluation(program, narrowed(proved_invariants(system), input_values(system)) or {})
    found: list[FNode] = []
    for instruction in program.instructions:
        if instruction.floating is not None:
            sets = [values.found[place] for place in instruction.arguments]
            found += facts_of_order(instruction.floating, instruction.node, sets)
    return found


class Step:
    """The clauses of one step of some state variables.

    ``symbols`` (plain) give the leaves, each with all its bits. ``after`` has the local variables of each variable's
    bits in the next state, ``parts`` those of the formulas that were asked for; ``valid`` implies that the step is
    valid, ``proved`` that the invariants hold before it. ``layers`` tells the layer of each part.
    """

    def __init__(
        self,
        system: TransitionSystem,
        variables: Sequence[StateVariable],
        conditions: bool,
        parts: Iterable[FNode],
        cost: Cost,
    ) -> None:
        """``conditions``: with validity and invariants. ``parts``: formulas over plain symbols of state and inputs.

        The work is added to ``cost``. StepTooLarge if it is more than what is left allows.
        """
        graph = Graph(max(LEAST, cost.left() * PART) * WORK / GATE)
        symbols: dict[FNode, Word] = {}

        def leaf(node: FNode) -> Word | None:
            return _inputs(graph, symbols, node, width(node)) if node.is_symbol() else None

        blaster = Blaster(graph, leaf)
        self.layers = _layers(system, parts)
        found = {part: blaster.word(part) for part in self.layers}
        after = {var.symbol: blaster.word(var.next) for var in variables}
        known, allowed = [proved_invariants(system)], [system.input_constraint, system.defined]
        proved = blaster.literal(conjunction(known if conditions else []))
        valid = blaster.literal(conjunction(allowed if conditions else []))
        state = _equivalent(word for part, word in found.items() if self.layers[part] == STATE)
        step = _equivalent([*(word for part, word in found.items() if self.layers[part] == STEP), *after.values()])
        state.setdefault(proved, IMPLIES)
        step.setdefault(valid, IMPLIES)
        self.symbols = tuple(symbols)
        orders = [blaster.literal(fact) for fact in facts_of_orders(system, variables)]
        step.update((literal, step.get(literal, IMPLIES)) for literal in orders)
        asserted = [*orders, *([valid, proved] if conditions and always_possible(system) else [])]
        self.template = ClauseTemplate(graph, _gates(symbols), [state, step], cost.in_library, asserted)
        self.after, self.parts = _local(self.template, after), _local(self.template, found)
        self.valid, self.proved = self.template.local(valid), self.template.local(proved)
        cost.work += len(graph.kinds) * GATE


class Placeable:
    """A framed formula as clauses over the words of ``leaves``: plain formulas, each with a step.

    ``root`` is the local variable that implies the formula.
    """

    def __init__(self, formula: FNode, framed: FramedParts, given: Callable[[FNode], bool]) -> None:
        """``given`` tells of which plain formulas the words are at hand; they are of symbols."""
        graph = Graph()
        words: dict[tuple[FNode, int], Word] = {}

        def leaf(node: FNode) -> Word | None:
            step, told = framed.of(node)
            known = step >= 0 and (told.is_symbol() or given(told))
            return _inputs(graph, words, (told, step), width(told)) if known else None

        root = Blaster(graph, leaf).literal(formula)
        self.leaves = tuple(words)
        self.template = ClauseTemplate(graph, _gates(words), [{root: IMPLIES}], None)
        self.root = self.template.local(root)


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
