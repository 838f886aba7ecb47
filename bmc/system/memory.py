"""What a system remembers of steps that are over: state variables made by the tool, which change no run.

A property, or a condition over several steps, looks back by such variables: each carries a value of earlier steps,
and so every formula over steps up to this one becomes a formula over this step alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, BVConcat, BVExtract, Equals, Ite, get_env

from bmc.errors import CheckDisagreed
from bmc.formulas.evaluate import compile_formulas, post_order
from bmc.formulas.terms import both, choose, keep_meaning
from bmc.formulas.unroll import at, plain, shift, unframed, unplaced, with_terms
from bmc.system.transition import BOOLEAN, Run, StateVariable, TransitionSystem, ValueType, symbols_of

CHAINED = 4
"""Up to so many steps a Boolean is carried by a variable for each step, beyond by words with a bit for each."""


WORD = 32
"""The bits of such a word."""

OWN = frozenset({"monitor", "earlier", "hold"})
"""Those names of the tool's own memories that a goal may have: of monitors, exported questions and held inputs."""


def owner_of(goal: str) -> str:
    """What the memory of ``goal`` is called: by its name, unless a memory of the tool's own has that."""
    return f"goal {goal}" if goal in OWN else goal


class Memory:
    """Collects ``variables``, called ``owner``, a number and their bits; equal terms are carried once."""

    def __init__(self, owner: str) -> None:
        self.variables: list[StateVariable] = []
        self._owner = owner
        self._carried: dict[tuple[FNode, int], FNode] = {}
        self._counted: dict[int, FNode] = {}
        self._lines: dict[FNode, Sequence[FNode]] = {}
        self._named = 0

    def fresh(self, kind: ValueType = BOOLEAN) -> FNode:
        """The symbol of a new variable; ``keep`` says how it begins and goes on."""
        self._named += 1
        return kind.symbol(f"{self._owner}#{self._named}" + (f":{kind.bits}" if kind.bits else ""))

    def keep(self, symbol: FNode, following: FNode, begins: int = 0, most: int | None = None) -> FNode:
        """``symbol``, the fresh one, is ``following`` after each step; it has at most the value ``most``."""
        kind = BOOLEAN if symbol.get_type().is_bool_type() else ValueType("memory", symbol.bv_width())
        low = None if most is None else 0
        name = symbol.symbol_name()
        self.variables.append(StateVariable(name, kind, kind.constant(begins), following, "internal", low, most))
        return symbol

    def before(self, term: FNode, steps: int) -> FNode:
        """The value that ``term`` (over plain symbols) had so many steps before; 0 or false where there is none.

        A constant word has its value then, too.
        """
        if steps == 0 or term.is_constant():
            return self.after(steps) if term.is_true() else term
        if (term, steps) not in self._carried:
            self._carried[term, steps] = self._carry(term, steps)
        return self._carried[term, steps]

    def _carry(self, term: FNode, steps: int) -> FNode:
        line = self._lines.get(term, ())
        if len(line) >= steps:
            return line[steps - 1]
        if term.get_type().is_bool_type() and steps > CHAINED:
            self._lines[term] = self.line(term, steps)
            return self.before(term, steps)
        following = self.before(term, steps - 1)
        boolean = term.get_type().is_bool_type()
        return self.keep(self.fresh(BOOLEAN if boolean else ValueType("memory", term.bv_width())), following)

    def line(self, newest: FNode, length: int, kept: FNode | None = None) -> Sequence[FNode]:
        """What ``newest`` was 1, 2, ... ``length`` steps before; all is forgotten where ``kept`` does not hold."""
        bits: list[FNode] = []
        while len(bits) < length:
            width = min(WORD, length - len(bits))
            word = self.fresh(ValueType("memory", width))
            added = Ite(bits[-1] if bits else newest, BV(1, 1), BV(0, 1))
            moved = added if width == 1 else BVConcat(BVExtract(word, 0, width - 2), added)
            self.keep(word, moved if kept is None else choose(kept, moved, BV(0, width)))
            bits += [Equals(BVExtract(word, place, place), BV(1, 1)) for place in range(width)]
        return bits

    def after(self, steps: int) -> FNode:
        """That at least so many steps have been made."""
        if steps == 0:
            return TRUE()
        if steps not in self._counted:
            count = self.fresh(ValueType("memory", steps.bit_length()))
            most = BV(steps, steps.bit_length())
            self._counted[steps] = Equals(count, most)
            self.keep(count, Ite(Equals(count, most), most, count + BV(1, steps.bit_length())), most=steps)
        return self._counted[steps]

    def now(self, formula: FNode, present: int) -> FNode:
        """``formula`` (framed), read when the step ``present`` is the one at hand: over plain symbols.

        False as long as it looks at steps before the first. It looks at none after ``present``.
        """
        steps = [unframed(symbol)[1] for symbol in symbols_of(formula)]
        result = unplaced([self.from_now(formula, present)])[0]
        return both(result, self.after(present - min(steps, default=present)))

    def from_now(self, formula: FNode, present: int) -> FNode:
        """``formula`` (framed), where the step ``present`` is the first: what it says of earlier ones is remembered."""
        made: dict[FNode, FNode] = {}
        for step, term in _earlier(formula, present):
            made[term] = at(self.before(unplaced([term])[0], present - step), 0)
        create = get_env().formula_manager.create_node
        for node in post_order([formula]):
            if node in made:
                continue
            if node.is_symbol():
                made[node] = shift(node, -present)
            elif node.args():
                made[node] = create(node.node_type(), tuple(made[a] for a in node.args()), node._content.payload)
                keep_meaning(node, made[node], made)
            else:
                made[node] = node
        return made[formula]


def _earlier(formula: FNode, present: int) -> list[tuple[int, FNode]]:
    """What ``formula`` (framed) reads of each step before ``present``: the steps in order, each with a term.

    Conditions, where they take fewer bits than the variables in them and these are read in no other way; else these.
    """
    found = []
    for step, terms in sorted(_largest_before(formula, present).items()):
        for group, symbols in _sharing(terms):
            conditions = all(term.get_type().is_bool_type() for term in group)
            few = conditions and len(group) < sum(_bits(symbol) for symbol in symbols)
            found += [(step, term) for term in (group if few else symbols)]
    return found


def _largest_before(formula: FNode, present: int) -> dict[int, list[FNode]]:
    """By step before ``present``, the largest terms of ``formula`` (framed) that read this step alone."""
    order = post_order([formula])
    read: dict[FNode, frozenset[int]] = {}
    for node in order:
        own = [unframed(node)[1]] if node.is_symbol() else [step for a in node.args() for step in read[a]]
        read[node] = frozenset(own)
    largest: dict[int, list[FNode]] = {}
    reached = {formula}
    for node in reversed(order):
        if node in reached and len(read[node]) > 1:
            reached.update(node.args())
        elif node in reached and read[node] and min(read[node]) < present:
            largest.setdefault(min(read[node]), []).append(node)
    return largest


def _sharing(terms: Sequence[FNode]) -> list[tuple[list[FNode], list[FNode]]]:
    """``terms`` in groups, those that have a symbol in common in one; each with its symbols."""
    groups: list[tuple[list[FNode], set[FNode]]] = []
    for term in terms:
        own, symbols = [term], set(symbols_of(term))
        for group in [group for group in groups if group[1] & symbols]:
            groups.remove(group)
            own, symbols = [*group[0], *own], group[1] | symbols
        groups.append((own, symbols))
    return [(own, sorted(symbols, key=lambda symbol: symbol.symbol_name())) for own, symbols in groups]


def called(name: str) -> str:
    """A state variable as a user is told of it: by its name, or, if it is one of a memory, by what remembers."""
    owner, mark, _ = name.partition("#")
    if not mark:
        return f"'{name}'"
    who = f"a {owner[:-1]}" if owner.endswith(":") else f"'{owner}'"
    return f"what {who} remembers of earlier steps"


def _bits(symbol: FNode) -> int:
    return 1 if symbol.get_type().is_bool_type() else int(symbol.bv_width())


def with_memory(system: TransitionSystem, variables: Sequence[StateVariable]) -> TransitionSystem:
    """``system`` that remembers ``variables`` as well; each has one name and is added once.

    CheckDisagreed where two of them have one name and are not the same: one would be lost.
    """
    known = {var.name for var in system.state}
    added: dict[str, StateVariable] = {}
    for var in variables:
        if var.name not in known and added.setdefault(var.name, var) != var:
            raise CheckDisagreed(f"two memories of goals are called '{var.name}'", None, "report it")
    return replace(system, state=(*system.state, *added.values())) if added else system


def remembered(run: Run, variables: Sequence[StateVariable]) -> Run:
    """``run``, of a system without ``variables``, with their values in its states."""
    following = compile_formulas([var.next for var in variables])
    begins = compile_formulas([var.init for var in variables if var.init is not None])({})
    now = dict(zip((var.name for var in variables), begins, strict=True))
    states = [{**run.states[0], **now}]
    for state, inputs in zip(run.states[1:], run.inputs, strict=True):
        now = dict(zip(now, following({**states[-1], **inputs}), strict=True))
        states.append({**state, **now})
    return Run(tuple(states), run.inputs)


def fixed_memory(system: TransitionSystem) -> dict[FNode, FNode]:
    """The Boolean state variables of ``system`` that remember a fixed number of steps, with their next values.

    No such variable reads itself: it is a condition on the step before, and on those before that.
    """
    booleans = {var.symbol for var in system.state if var.symbol.get_type().is_bool_type()}
    found: dict[FNode, FNode] = {}
    for var in system.state:
        if var.symbol in booleans and booleans.intersection(symbols_of(var.next)) <= found.keys():
            found[var.symbol] = var.next
    return found


def recalled(formulas: Sequence[FNode], memory: Mapping[FNode, FNode]) -> list[FNode]:
    """``formulas`` (framed) about the steps that ``memory`` remembers, not about its variables; the same for all runs.

    What these variables are in the first state is left as it is.
    """
    found = list(formulas)
    if not memory:
        return found
    while earlier := {
        symbol: at(memory[plain(symbol)], unframed(symbol)[1] - 1)
        for symbol in dict.fromkeys(symbol for formula in found for symbol in symbols_of(formula))
        if plain(symbol) in memory and unframed(symbol)[1]
    }:
        found = with_terms(found, earlier)
    return found
