"""Formulas asked of a SAT solver: z3 turns bit-vectors into gates and these into clauses, once for each formula.

The clauses of a formula are a template, which is placed at every step where the formula is asked for. The solver is
MiniSat, where the engine that claims mostly come from asks Glucose about gates of its own: they share the wrappers
by which solvers are limited, interrupted and freed. Clauses do not show that two sums are the same: where MiniSat gives
up, z3 can be asked about the words themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import z3
from pysat.solvers import Minisat22
from pysmt.fnode import FNode
from pysmt.logics import QF_BV
from pysmt.shortcuts import TRUE, And, Iff, Solver, Symbol

from bmc.engines.protocol import NO_LIMIT, RESOURCE, WORK
from bmc.engines.sat_encoding.clauses import preprocessed
from bmc.engines.sat_encoding.solver import SatSolver
from bmc.evaluation.vectors import bits_of
from bmc.formulas.unroll import at, shift, unframed
from bmc.records import dataclass
from bmc.system.transition import symbols_of
from chaincover.verification.limits import Clock

OUT = "\n"
"""The name of what is true exactly where the formula of a template is; no variable has it."""

ROUNDS = 1
"""Rounds of preprocessing of a template."""

GATES, CLAUSES = ("bit-blast", "simplify"), "tseitin-cnf"
"""Tactics of z3. Simplified first, as remainders have to be, sums no longer share their parts with other sums. Gates of
a step that is placed many times get fewer by ``aig`` in between, but questions about two states side by side harder."""

MOST_CLAUSES = 1_000_000
"""So many clauses a template may have: some hundred megabytes, and as many again at each step."""


class TooLarge(Exception):
    """A formula takes more clauses than a template may have."""


@dataclass(frozen=True, slots=True)
class Template:
    """``clauses`` over variables from 1 to ``size``; 0 is no variable.

    ``ports`` tells for each of these that is read from outside which bit of which symbol it is.
    """

    clauses: Sequence[Sequence[int]]
    ports: Mapping[int, tuple[FNode, int]]
    size: int


@lru_cache
def template_of(formula: FNode, facts: tuple[FNode, ...] = (), fewer: bool = False) -> Template:
    """The template that makes the symbol ``OUT`` tell whether ``formula`` holds, and in which all ``facts`` hold.

    ``fewer``: with fewer gates, which takes longer. TooLarge where it would have more than ``MOST_CLAUSES``.
    """
    named: list[tuple[FNode, int]] = []
    with Solver(name="z3", logic=QF_BV) as solver:
        whole, convert = And(Iff(Symbol(OUT), formula), *facts), solver.converter.convert
        values = [(convert(symbol), _of_bits(symbol, named)) for symbol in symbols_of(whole)]
        goal = z3.Goal()
        goal.add(z3.substitute(convert(whole), *values))
        tactics = (*GATES, "aig", CLAUSES) if fewer else (*GATES, CLAUSES)
        (clauses,) = z3.OrElse(z3.Then(*tactics), z3.Then("simplify", *tactics))(goal)
        if clauses.size() > MOST_CLAUSES:
            raise TooLarge
        text = clauses.dimacs(include_names=True)
    return _read(text, named)


def _of_bits(symbol: FNode, named: list[tuple[FNode, int]]) -> z3.ExprRef:
    """The value of ``symbol`` made of a Boolean for each bit; ``named`` gets them, at the places that name them."""
    width = bits_of(symbol) or 1
    bits = [z3.Bool(f"bit{len(named) + place}") for place in range(width)]
    named.extend((symbol, place) for place in range(width))
    if symbol.symbol_type().is_bool_type():
        return bits[0]
    one, zero = z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)
    parts = [z3.If(bit, one, zero) for bit in reversed(bits)]
    return parts[0] if width == 1 else z3.Concat(*parts)


def _read(text: str, named: Sequence[tuple[FNode, int]]) -> Template:
    """The template of a text in DIMACS format with comments that name variables, as z3 writes it."""
    clauses, ports, size = list[list[int]](), dict[int, tuple[FNode, int]](), 0
    for line in text.splitlines():
        first, *rest = line.split()
        if first == "p":
            size = int(rest[1])
        elif first == "0":  # facts that contradict each other
            clauses, size = [[1], [-1]], max(size, 1)
        elif first != "c":
            clauses.append([int(literal) for literal in (first, *rest[:-1])])
        elif rest[1].startswith("bit"):
            ports[int(rest[0])] = named[int(rest[1].removeprefix("bit"))]
    return Template(preprocessed(clauses, list(ports), ROUNDS), ports, size)


def contradictory(formula: FNode, clock: Clock, share: float = 1) -> bool:
    """Whether z3 finds out from the words of ``formula``, within a share of the limits, that it never holds.

    Sums are brought into one form, and values put in place, before any of it becomes gates.
    """
    if clock.over:
        return False
    options = {"rlimit": min(max(1, int(clock.question(share) * WORK / RESOURCE)), NO_LIMIT)}
    if clock.left is not None:
        options["timeout"] = max(1, min(int(clock.left * 1000), NO_LIMIT))
    with Solver(name="z3", logic=QF_BV, solver_options=options) as solver:
        solver.add_assertion(formula)
        return bool(solver.z3.check() == z3.unsat)


class Clauses:
    """Formulas over framed symbols as literals of a SAT solver, which answers whether they can hold together."""

    def __init__(self, clock: Clock, fewer: bool = False) -> None:
        """``fewer``: templates with fewer gates, for what is placed at many steps."""
        self._clock, self._fewer, self._solver = clock, fewer, SatSolver(library=Minisat22)
        self._bits: dict[tuple[str, int], range] = {}
        self._literals: dict[FNode, int] = {TRUE(): 1}
        self._model: Sequence[int] = ()
        self._too_large = False

    def own(self, symbol: FNode, literal: int | None = None) -> FNode:
        """``symbol``, a Boolean one that is no variable of the system, from now on stands for ``literal``.

        Without one it may be either, as it may already.
        """
        if literal is not None:
            self._literals[symbol] = literal
        elif symbol not in self._literals:
            (self._literals[symbol],) = self._solver.fresh(1)
        return symbol

    def demand(self, formula: FNode) -> None:
        """``formula`` holds in every answer."""
        self._solver.add([[self.literal(formula)]])

    def differs(self, values: Mapping[FNode, int], where: FNode) -> None:
        """One of the framed symbols has another value than in ``values``, in every answer in which ``where`` holds."""
        same = [literal for symbol, value in values.items() for literal in self.equal(symbol, value)]
        self._solver.add([[-self.literal(where), *(-literal for literal in same)]])

    def equal(self, symbol: FNode, value: int) -> list[int]:
        """Literals that together say that a framed symbol has this value, as a number without sign."""
        bits = self._symbol(symbol, *unframed(symbol))
        return [literal if value >> place & 1 else -literal for place, literal in enumerate(bits)]

    def possible(self, formula: FNode, literals: Sequence[int] = (), share: float = 1) -> bool | None:
        """Whether ``formula`` and ``literals`` can hold together.

        None where a share of the limits came first, or some formula was too large.
        """
        literals = [self.literal(formula), *literals]
        if self._clock.over or self._too_large:
            return None
        answer = self._solver.solve(literals, self._clock.left, self._clock.question(share))
        self._model = self._solver.model() if answer else ()
        return answer

    def value(self, symbol: FNode) -> int:
        """The value of a framed symbol in the last answer, as a number without sign; bits that nothing reads are 0."""
        bits = self._bits.get(unframed(symbol), range(0))
        return sum(1 << place for place, literal in enumerate(bits) if self._model[literal - 1] > 0)

    def placed(self, formula: FNode, facts: tuple[FNode, ...] = (), step: int = 0) -> int:
        """Place ``formula`` and ``facts``, which hold from now on, so many steps later; the literal of ``formula``."""
        if self._too_large:
            return 1
        try:
            return self._renamed(template_of(formula, facts, self._fewer), step)
        except TooLarge:
            self._too_large = True
            return 1

    def _renamed(self, template: Template, step: int) -> int:
        """Add the clauses of ``template``, so many steps later; the literal of its formula. Where facts
        contradict each other it has none, and any literal stands for it: whatever is asked of states in which all facts
        hold, there are no such states."""
        first = self._solver.fresh(template.size).start
        names, out = [0, *range(first, first + template.size)], first
        for number, (symbol, bit) in template.ports.items():
            if symbol.symbol_name() == OUT:
                out = names[number]
            else:
                name, own_step = unframed(symbol)
                names[number] = self._symbol(symbol, name, own_step + step)[bit]
        signed = [*names, *(-name for name in reversed(names[1:]))]  # a negative literal counts from behind
        self._solver.add([signed[literal] for literal in clause] for clause in template.clauses)
        return out

    def _symbol(self, symbol: FNode, name: str, step: int) -> range:
        """The variables of the bits of a symbol like ``symbol``."""
        if (name, step) not in self._bits:
            self._bits[name, step] = self._solver.fresh(bits_of(symbol) or 1)
        return self._bits[name, step]

    def literal(self, formula: FNode) -> int:
        """The literal that is true exactly where ``formula`` holds."""
        todo = [formula]
        while todo:
            node = todo[-1]
            missing = [part for part in node.args() if part not in self._literals] if _joins(node) else []
            if node in self._literals:
                todo.pop()
            elif missing:
                todo.extend(missing)
            else:
                self._literals[node] = self._joined(node) if _joins(node) else self._alone(node)
        return self._literals[formula]

    def _joined(self, node: FNode) -> int:
        parts = [self._literals[part] for part in node.args()]
        if node.is_not():
            return -parts[0]
        if node.is_implies():
            return -self._all([parts[0], -parts[1]])
        return -self._all([-part for part in parts]) if node.is_or() else self._all(parts)

    def _all(self, parts: Sequence[int]) -> int:
        """The literal that is true where all ``parts`` are."""
        (both,) = self._solver.fresh(1)
        self._solver.add([*([-both, part] for part in parts), [both, *(-part for part in parts)]])
        return both

    def _alone(self, node: FNode) -> int:
        """The literal of what is not put together of other formulas."""
        if node.is_constant():
            return 1 if node.is_true() else -1
        if node.is_symbol():
            return self._symbol(node, *unframed(node))[0]
        first = min((unframed(symbol)[1] for symbol in symbols_of(node)), default=0)
        return self.placed(shift(node, -first), step=first)


def satisfiable(formula: FNode, clock: Clock) -> bool | None:
    """Whether plain ``formula`` can hold; None if the solver gave up."""
    clauses = Clauses(clock)
    return clauses.possible(TRUE(), [clauses.placed(at(formula, 0))])


def _joins(node: FNode) -> bool:
    """Whether a formula is put together of others in a way that ``Clauses`` knows."""
    return bool(node.is_and() or node.is_or() or node.is_not() or node.is_implies())
