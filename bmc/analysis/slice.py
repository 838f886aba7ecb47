"""Slicing: the part of a transition system on which some formulas depend, and nothing else.

Inputs that nothing reads are cut off too (``bmc.analysis.idle``).

A state variable is live at the start of a step if its value then can still make a difference, and dead where nothing
observed ever depends on it, over any number of steps: it is written before it is read, or read by dead ones only, or
read where the value read is not used. What a formula reads is judged more sharply than by the symbols in it: each read
happens under conditions, and one under contradictory conditions never happens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from functools import lru_cache
from typing import Any

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.constants import constant_state, fixed_inputs, next_states, put_in
from bmc.analysis.idle import idle_inputs, without_inputs
from bmc.analysis.state_values import every_step, state_values, values_of
from bmc.formulas.evaluate import names_in, post_order, unseen
from bmc.formulas.folding import raw_value
from bmc.formulas.terms import is_constant, is_true
from bmc.formulas.value_sets import ALWAYS, NEVER, Ranges, values, whole, width_of
from bmc.records import dataclass
from bmc.system.constraints import remembers
from bmc.system.transition import (
    Condition,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    conjuncts,
    equal,
)

CONSTANTS = "never change: "
"""The name of the invariant that lists the constant variables on which a sliced system rests begins so."""


def slice_system(system: TransitionSystem, observed: Sequence[FNode], judged: Sequence[FNode] = ()) -> TransitionSystem:
    """``system`` with those variables only on which ``observed``, ``judged`` and a step's validity depend.

    Seen through these plain formulas its runs are those of ``system``: the same values of the inputs that are left are
    allowed, and give the same values. ``slice_and_spare`` tells what values the other inputs may have in every step.
    Variables that never change become values, unless a formula names them; a proved invariant lists those that
    ``observed`` and validity rest on. Proved invariants are kept where they say something of these. Asserts,
    assumptions and places of undefined behaviour are left out.
    """
    return slice_and_spare(system, observed, judged)[0]


def slice_and_spare(
    system: TransitionSystem, observed: Sequence[FNode], judged: Sequence[FNode] = ()
) -> tuple[TransitionSystem, Valuation]:
    """``slice_system``, and the inputs that it leaves out, each with a raw value that is allowed in every step."""
    part = _Slicer(system).sliced(observed, judged)
    nexts = (var.next for var in part.state if not remembers(var.name))
    idle = idle_inputs(part, [*observed, *judged, part.defined, *nexts])
    if idle:
        part = _read_part(without_inputs(part, idle), [*observed, *judged])
    return part, idle


def _read_part(system: TransitionSystem, formulas: Sequence[FNode]) -> TransitionSystem:
    """``system`` with the variables that ``formulas`` and its steps still read, and the invariants on these."""
    left = replace(system, invariants=()).cone(formulas)
    names = {var.name for var in left}
    kept = tuple(inv for inv in system.invariants if names_in([inv.formula]) <= names)
    return replace(system, state=left, invariants=kept, chosen=tuple(n for n in system.chosen if n in names))


class _Slicer:
    """Cuts one system, with the values put in of what never changes."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self._constants = constant_state(system)
        self._following = next_states(system)
        (defined,) = put_in([system.defined], {**self._constants, **fixed_inputs(system)})
        proved = [inv for inv in system.invariants if inv.proved]
        rest = put_in([system.input_constraint, *(inv.formula for inv in proved)], self._constants)
        self._constraint, self._defined = rest[0], defined
        self._invariants = [replace(inv, formula=f) for inv, f in zip(proved, rest[1:], strict=True)]

    def sliced(self, observed: Sequence[FNode], judged: Sequence[FNode]) -> TransitionSystem:
        """The slice; see ``slice_system``."""
        system, constants = self._system, self._constants
        needed, invariants = self._with_invariants(observed)
        live = self._needed(judged, needed) if judged else needed
        named = names_in([*observed, *judged])
        kept = [var for var in system.state if var.name in live or (var.name in named and var.name in constants)]
        unread = _any_values(var for var in system.state if var.name not in live)
        following = {var.name: self._following[var.name] for var in system.state if var.name in live}
        constraint, defined, *terms = put_in([self._constraint, self._defined, *following.values()], unread)
        following = dict(zip(following, terms, strict=True))
        return replace(
            system,
            state=tuple(replace(var, next=following.get(var.name, var.init)) for var in kept),
            input_constraint=constraint,
            defined=defined,
            asserts=(),
            undefined_behaviour=(),
            assumptions=(),
            constraints=(),
            invariants=self._told(invariants, self._claim(needed, invariants, observed), {var.name for var in kept}),
            chosen=tuple(name for name in system.chosen if name in live),
        )

    def _told(
        self, invariants: Sequence[Condition], claim: Sequence[Condition], kept: set[str]
    ) -> tuple[Condition, ...]:
        """``invariants`` and what is claimed of constants, here and where the system itself is a slice already."""
        before = [inv for inv in self._invariants if inv.name.startswith(CONSTANTS) and names_in([inv.formula]) <= kept]
        return tuple({inv.name: inv for inv in (*before, *invariants, *claim)}.values())

    def _needed(self, formulas: Sequence[FNode], before: Set[str] = frozenset()) -> frozenset[str]:
        """The variables, but for constants, that ``formulas`` name or on which these or a step's validity depend, and
        those that were needed ``before``."""
        named = [node for node in post_order(formulas) if node.is_symbol()]
        roots = [self._constraint, self._defined, *named]
        return live_among(self._following, roots, before=before) - self._constants.keys()

    def _with_invariants(self, observed: Sequence[FNode]) -> tuple[frozenset[str], list[Condition]]:
        """The variables that ``observed`` needs, and the invariants on these, with all that such invariants name."""
        formulas = list(observed)
        while True:
            needed = self._needed(formulas)
            telling = [inv for inv in self._invariants if names_in([inv.formula]) & needed]
            if names_in([inv.formula for inv in telling]) <= needed:
                return needed, telling
            formulas = [*observed, *(inv.formula for inv in telling)]

    def _claim(
        self, needed: frozenset[str], invariants: Sequence[Condition], formulas: Sequence[FNode]
    ) -> list[Condition]:
        """The invariant that lists the constants on which the ``needed`` variables rest; none where there are none."""
        system = self._system
        kept = {inv.name for inv in invariants}
        following = {var.name: var.next for var in system.state}
        terms = [system.input_constraint, system.defined, *(following[name] for name in sorted(needed))]
        used = self._constants_read([*formulas, *terms, *(i.formula for i in system.invariants if i.name in kept)])
        listed = [var for var in system.state if var.name in used]
        named = names_in(formulas)
        told = conjunction(equal(v.symbol, v.init) for v in listed if v.init is not None and v.name in named)
        return [Condition(CONSTANTS + ", ".join(v.name for v in listed), told, proved=True)] if listed else []

    def _constants_read(self, roots: Sequence[FNode]) -> set[str]:
        """The constant variables that ``roots`` read, and those that the next states of such variables read."""
        following = {var.name: var.next for var in self._system.state if var.name in self._constants}
        seen: set[int] = set()
        used: set[str] = set()
        while roots:
            names = {node.symbol_name() for node in unseen(roots, seen) if node.is_symbol()}
            fresh = names & following.keys()
            used |= fresh
            roots = [following[name] for name in fresh]
        return used


def _any_values(variables: Iterable[StateVariable]) -> Valuation:
    """A value for each of ``variables``, on which nothing depends: the start value, or 0."""
    return {var.name: 0 if var.init is None else raw_value(var.init) for var in variables}


def without_impossible(system: TransitionSystem, observed: Sequence[FNode]) -> TransitionSystem:
    """``system`` without those conditions on a step to be defined which hold in all reachable states.

    Looked at are only conditions on variables that ``observed`` (plain formulas) does not depend on, and values of the
    state that are found without a solver; none where a step is large. Runs from init are the same; in other states more
    steps may be allowed.
    """
    if is_large(system):
        return system
    asked = loose_conditions(system, observed)
    if not asked:
        return system
    sure = always_true(system, asked)
    return replace(system, defined=conjunction(part for part in conjuncts(system.defined) if part not in sure))


def always_true(system: TransitionSystem, asked: Sequence[FNode]) -> set[FNode]:
    """Those of ``asked`` (plain formulas) that hold in every step of every run by the values that each variable has."""
    formulas = put_in(asked, {**constant_state(system), **fixed_inputs(system)})
    return {part for part, here in zip(asked, _in_every_step(system, formulas), strict=True) if here == ALWAYS}


def _in_every_step(system: TransitionSystem, terms: Sequence[FNode]) -> Sequence[Ranges]:
    """The values that each of ``terms`` can have in a step of a run, as far as they are known without a solver: all,
    where a step is large."""
    if is_large(system):
        return [whole(width_of(term)) for term in terms]
    following = next_states(system)
    free = every_step(replace(system, state=tuple(replace(var, next=following[var.name]) for var in system.state)))
    sets = state_values(free)
    assert sets is not None
    return values_of(terms, free, sets)


def is_large(system: TransitionSystem) -> bool:
    """Whether a step is so large that the values of its variables are not looked at."""
    return len(post_order([*next_states(system).values()])) > MOST_NODES


def loose_conditions(system: TransitionSystem, observed: Sequence[FNode]) -> list[FNode]:
    """The conditions on a step to be defined that name variables on which ``observed`` does not depend otherwise.

    ``observed`` are plain formulas. Without these conditions a slice for them has fewer variables.
    """
    parts = conjuncts(system.defined)
    constants = constant_state(system)
    if names_in(parts).isdisjoint(var.name for var in system.state if var.name not in constants):
        return []
    free = replace(system, defined=TRUE(), asserts=(), undefined_behaviour=(), invariants=())
    loose = {var.name for var in system.state} - live_state(free, observed) - constants.keys()
    return _naming(parts, loose)


def _naming(formulas: Sequence[FNode], names: Collection[str]) -> list[FNode]:
    """Those of ``formulas`` that name one of ``names``."""
    naming: set[FNode] = set()
    for node in post_order(formulas):
        if node.symbol_name() in names if node.is_symbol() else not naming.isdisjoint(node.args()):
            naming.add(node)
    return [formula for formula in formulas if formula in naming]


MOST_NODES = 60_000
"""Nodes of a step's formulas up to which it is looked at what the state can have: some 30,000 lines. A longer program
keeps conditions and variables that are not needed, and its first search begins sooner."""
MOST_GIVEN = 64
"""Conditions that are kept for one read; further ones are dropped, which is safe."""
MOST_PARTS = 256
"""Parts of one condition that are looked at; the others are dropped, which is safe."""
MOST_JOINED = 8
"""An And or Or of more arguments is read as if each mattered always."""
REPEATED = 6
"""Once the rounds have looked at so many times as many nodes as there are, symbols in formulas count as read."""
MOST_COMPARED, PER_NODE = 200_000, 8
"""So many conditions are looked at in one round, and so many more for each node; what is given further down is
dropped."""

Given = Mapping[Any, int]
"""The numbers of terms, and the values that these have wherever a node is read; of one with few ``cases``, marked,
which are left. To hash a term takes longer than its number."""
NOTHING: Given = {}
MOST_CASES = 64
"""Values of a term of which all but one may be excluded one by one."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true in every step of every run, by numbers of terms: conditions that are ``decided``, and the only
    values of some terms."""

    decided: Mapping[int, bool] = field(default_factory=dict)
    cases: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


NO_FACTS = Facts()


def live_state(system: TransitionSystem, observed: Iterable[FNode]) -> frozenset[str]:
    """The names of the state variables on which ``observed`` or a step's validity depends, now or later.

    ``observed`` are plain formulas. Constant variables and inputs of one value count as their values, and are not live.
    What a variable can never hold is known: a ``switch`` over a mode that is 0 to 3 in every run is complete with
    these.
    """
    known = {**constant_state(system), **fixed_inputs(system)}
    following = next_states(system)
    roots = put_in([system.input_constraint, system.defined, *observed], known)
    return live_among(following, roots, _facts(system, [*following.values(), *roots]))


def _facts(system: TransitionSystem, formulas: Sequence[FNode]) -> Facts:
    """What the values of the state that are found without a solver say of conditions in ``formulas``.

    These are comparisons with constants, of terms over inputs and that state which a step reads: not over outputs.
    """
    atoms = _atoms(system, formulas)
    terms = dict.fromkeys(pair[0] for atom in atoms if (pair := _against_constant(atom)) is not None)
    asked = [*atoms, *terms]
    if names_in(asked).isdisjoint(var.name for var in system.state):
        return NO_FACTS
    found = dict(zip(asked, _in_every_step(system, asked), strict=True))
    decided = {atom.node_id(): found[atom] == ALWAYS for atom in atoms if found[atom] in (ALWAYS, NEVER)}
    members = ((term.node_id(), values(found[term], MOST_CASES)) for term in terms)
    return Facts(decided, {term: tuple(cases) for term, cases in members if cases is not None})


def _atoms(system: TransitionSystem, formulas: Sequence[FNode]) -> list[FNode]:
    """The comparisons with constants in ``formulas``, but for those that name state which no step reads."""
    read = names_in([system.input_constraint, system.defined, *(var.next for var in system.state)])
    written = {var.name for var in system.state} - read
    atoms = [node for node in post_order(formulas) if _compares(node)]
    over = {*_naming(atoms, written)} if written else ()
    return [atom for atom in atoms if atom not in over]


def _compares(node: FNode) -> bool:
    """Whether a node compares words, one of them a constant."""
    return node.node_type() in op.RELATIONS and any(map(is_constant, node.args()))


def live_among(
    following: Mapping[str, FNode], observed: Sequence[FNode], facts: Facts = NO_FACTS, before: Set[str] = frozenset()
) -> frozenset[str]:
    """The least set of the variables in ``following`` (their next states) that holds all that ``observed`` reads, and
    what the next states of its members read; and those of such a set that is known ``before``."""
    live = {*before}
    budget = REPEATED * (len(post_order([*following.values()])) + len(post_order(observed)))
    seen: set[int] = set()
    roots = tuple(observed)
    while roots:
        order = _order(roots) if budget > 0 else unseen(roots, seen)
        budget -= len(order)
        symbols = _read(roots, facts) if budget > 0 else [node for node in order if node.is_symbol()]
        names = dict.fromkeys(symbol.symbol_name() for symbol in symbols)
        fresh = [name for name in names if name in following and name not in live]
        live.update(fresh)
        roots = tuple(following[name] for name in fresh)
    return frozenset(live)


@lru_cache(maxsize=1)
def _order(roots: tuple[FNode, ...]) -> Sequence[FNode]:
    """``post_order``, which is asked for twice."""
    return post_order(roots)


def _read(roots: tuple[FNode, ...], facts: Facts) -> Sequence[FNode]:
    """``read_symbols``; where no facts are known they are kept, since slices of one system ask for the same ones."""
    return _read_without_facts(roots) if facts is NO_FACTS else read_symbols(roots, _order(roots), facts)


@lru_cache(maxsize=16)
def _read_without_facts(roots: tuple[FNode, ...]) -> tuple[FNode, ...]:
    return tuple(read_symbols(roots, _order(roots)))


def read_symbols(roots: Sequence[FNode], order: Sequence[FNode] | None = None, facts: Facts = NO_FACTS) -> list[FNode]:
    """The symbols whose value can make a difference to that of one of ``roots``; ``order``: their ``post_order``.

    If the value of a root differs between two valuations that differ in one symbol, the difference comes up from that
    symbol through a chain of nodes, each of which is used: where a choice passes it on, the condition has the value
    that chooses it. A symbol is left out if on every chain two such conditions contradict each other.
    """
    nodes = post_order(roots) if order is None else order
    reads = _Reads(facts, MOST_COMPARED + PER_NODE * len(nodes))
    given: dict[int, Given] = dict.fromkeys((root._node_id for root in roots), NOTHING)
    found = []
    for node in reversed(nodes):
        here = given.pop(node._node_id, None)
        if here is None:
            continue
        if node._content.node_type == op.SYMBOL:
            found.append(node)
        for argument, there in reads.of(node, here):
            number = argument._node_id
            before = given.get(number)
            given[number] = there if before is None else reads.common(before, there)
    return found


class _Reads:
    """What is given where the arguments of nodes are read; nothing, once ``left`` conditions have been looked at."""

    def __init__(self, facts: Facts, left: int) -> None:
        self._facts, self._left = facts, left

    def of(self, node: FNode, given: Given) -> Iterator[tuple[FNode, Given]]:
        """The arguments of ``node`` that are used, each with what is given there."""
        kind, arguments, _ = node._content
        if kind == op.ITE:
            yield arguments[0], given
            for argument, value in ((arguments[1], True), (arguments[2], False)):
                there = self._assume(given, arguments[0], value)
                if there is not None:
                    yield argument, there
        elif kind in (op.AND, op.OR, op.IMPLIES) and len(arguments) <= MOST_JOINED:
            there = given
            for index, argument in enumerate(arguments):
                yield argument, there
                passes = kind == op.AND or (kind == op.IMPLIES and index == 0)
                further = self._assume(there, argument, passes)
                if further is None:
                    return
                there = further
        else:
            for argument in arguments:
                yield argument, given

    def common(self, left: Given, right: Given) -> Given:
        """What is given both times."""
        if left is right:
            return left
        self._left -= len(left)
        if self._left <= 0:
            return NOTHING
        return {term: value for term, value in left.items() if right.get(term) == value}

    def _assume(self, given: Given, cond: FNode, value: bool) -> Given | None:
        """``given`` with the condition ``cond`` having ``value``; None if it cannot have it."""
        if self._left <= 0:
            return NOTHING
        if given.get(cond._node_id) == value:
            return given
        added = dict(given)
        self._left -= len(added)
        todo = [(cond, value)]
        for _ in range(MOST_PARTS):
            if not todo:
                break
            self._left -= 1
            term, wanted = todo.pop()
            kind, arguments, _ = term._content
            while kind == op.NOT:
                term, wanted = arguments[0], not wanted
                kind, arguments, _ = term._content
            if kind == op.BOOL_CONSTANT:
                if is_true(term) != wanted:
                    return None
            elif not _added(added, term, wanted, self._facts):
                return None
            elif kind == (op.AND if wanted else op.OR):
                todo += [(part, wanted) for part in arguments]
        return added


def _added(given: dict[Any, int], atom: FNode, wanted: bool, facts: Facts) -> bool:
    """Put the value of ``atom`` into ``given``; whether that is possible."""
    own = atom._node_id
    if given.get(own, wanted) != wanted or facts.decided.get(own, wanted) != wanted:
        return False
    pair = _against_constant(atom)
    if pair is not None:
        term, number = pair[0]._node_id, pair[1]
        if term in given and (given[term] == number) != wanted:
            return False
        cases = facts.cases.get(term, ())
        if not wanted and number in cases:
            left = given.get((term, cases), (1 << len(cases)) - 1) & ~(1 << cases.index(number))
            if not left:
                return False
            given[term, cases] = left
        if wanted and len(given) < MOST_GIVEN:
            given[term] = number
    if len(given) < MOST_GIVEN:
        given[own] = wanted
    return True


def _against_constant(atom: FNode) -> tuple[FNode, int] | None:
    """The term and the number of an equation with a constant."""
    kind, arguments, _ = atom._content
    if kind != op.EQUALS:
        return None
    left, right = arguments
    if is_constant(left):
        left, right = right, left
    return (left, raw_value(right)) if is_constant(right) else None
