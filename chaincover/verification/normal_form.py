"""The normal form of states that a certificate speaks of: proved again by one question to the solver, then put in.

A run and the run of its states' normal forms must look alike for ever. It is enough that of any state, under any
inputs, the state and its normal form allow the same steps, show the same of goals and end, and have next states of one
normal form. Of any state in which the constants that the certificate lists have their values: these are proved again
for the states as they are, and hold of a normal form, too, where it leaves them alone.

Where the certificate says of which states only (``validity``), that these are the start states, and those after each
step from one as long as the counters named are not too great, is a question of its own: as they rise by no more than is
said in a step, the first step before which one may be is known by division. Facts about normal forms are facts about
runs up to there. For bounds, and for all that no run does, it is enough that a run has a run of normal forms: these may
allow steps where the run's state does not, as where a signed counter overflows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import BVSLE, BVULE, And, Iff, Implies, Not, Or, Symbol

from bmc.errors import counted
from bmc.formulas.evaluate import post_order
from bmc.formulas.sums import in_one_form
from bmc.formulas.unroll import at, plain_symbols, steps_of, unplaced, with_terms
from bmc.system.transition import StateVariable, TransitionSystem, conjunction, conjuncts, disjuncts, equal, symbols_of
from chaincover.certificate import Certificate, Validity, formula_of, term_of
from chaincover.verification.clauses import satisfiable
from chaincover.verification.invariants import CONSTANTS, assumed
from chaincover.verification.limits import Clock
from chaincover.verification.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line
from chaincover.verification.setting import Setting

NORMAL_FORM = "normal form"

COMPARISONS = (op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE, op.EQUALS)
COMPARED = "compared "
"""Before the number of a comparison: the symbol for its truth."""

Terms = Mapping[FNode, FNode]
"""For symbols of the state what they are in the normal form."""
NO_FORMS: Terms = {}


def normal_setting(setting: Setting, proof: Certificate | None, clock: Clock) -> tuple[Setting, Terms, Line]:
    """``setting`` on states in the normal form of ``proof``, and how they get there; as it is where none is proved."""
    if proof is None or not proof.normal_form:
        return setting, {}, Line(NORMAL_FORM, UNCLAIMED, "the certificate speaks of states as they are")
    known = {var.name: var for var in setting.system.state}
    forms: dict[FNode, FNode] = {}
    for name, text in proof.normal_form.items():
        term = term_of(known[name], text, known) if name in known else None
        if term is None:
            return setting, {}, Line(NORMAL_FORM, WRONG, f"'{text}' is no value of a variable '{name}'")
        forms[known[name].symbol] = term
    names = ", ".join(proof.normal_form)
    normal = _put_in(setting.system, forms)
    if normal is None:
        return setting, {}, Line(NORMAL_FORM, WRONG, f"of {names}: the start state has none")
    given, limit = constants_of(setting, proof, clock, forms), ""
    if proof.validity is not None:
        found = _states_of(setting.system, proof.validity, given, clock)
        if isinstance(found, Line):
            return setting, {}, replace(found, text=f"of {names}: {found.text}")
        given, steps = found, proof.validity.steps
        limit = "" if steps is None else f", in runs of up to {counted(steps, 'step')}"
    alike = _alike(setting, forms, given, clock)
    if alike is None:
        return setting, {}, Line(NORMAL_FORM, OPEN, f"of {names}: the solver did not finish")
    if not alike:
        return setting, {}, Line(NORMAL_FORM, WRONG, f"of {names}: some step tells a state from its normal form")
    text = f"of {names}: no step, goal or end can tell a state from it{limit}"
    return replace(setting, system=normal), forms, Line(NORMAL_FORM, HOLDS, text)


def _states_of(system: TransitionSystem, validity: Validity, constants: FNode, clock: Clock) -> FNode | Line:
    """What is true of every state after so many steps as ``validity`` says, proved; else what is wrong with it.

    ``constants`` are true of every state.
    """
    known = {var.name: var for var in system.state}
    holds = formula_of(validity.holds, known)
    if holds is None or not {*validity.rises} <= {*known}:
        return Line(NORMAL_FORM, WRONG, "what is said of its states is no formula over the program's variables")
    if not validity.rises and validity.steps is not None:
        return Line(NORMAL_FORM, WRONG, "nothing limits the number of steps")
    within, after, steps = [holds], [], list[int]()
    for name, (most, by) in validity.rises.items():
        var = known[name]
        before = _steps_up_to(var, most, by)
        if before is None:
            return Line(NORMAL_FORM, WRONG, f"'{name}' may wrap around at once")
        steps.append(before)
        order = BVSLE if var.type.signed else BVULE
        within.append(order(var.symbol, var.type.constant(most)))
        after.append(order(var.next, var.symbol.BVAdd(var.type.constant(by))))
    if min(steps, default=None) != validity.steps or min(steps, default=0) < 0:
        return Line(NORMAL_FORM, WRONG, f"of {validity.steps} steps, not of {min(steps, default=None)}")
    if not with_terms([holds], _start(system))[0].simplify().is_true():
        return Line(NORMAL_FORM, WRONG, "the start state is not one of its states")
    (kept,) = with_terms([holds], {var.symbol: var.next for var in system.state})
    given = conjunction([constants, *within])
    broken = And(given, system.input_constraint, system.defined, Not(And(kept, *after)))
    possible = satisfiable(broken, clock)
    if possible is None:
        return Line(NORMAL_FORM, OPEN, "the solver did not finish with its states")
    return Line(NORMAL_FORM, WRONG, "some step leaves its states") if possible else given


def _start(system: TransitionSystem) -> Terms:
    """The terms of the start values that are stated, for the symbols of their variables."""
    return {var.symbol: var.init for var in system.state if var.init is not None}


def _steps_up_to(var: StateVariable, most: int, by: int) -> int | None:
    """The steps after which ``var`` is ``most`` or less for sure, where it rises by no more than ``by`` in each; None
    where it may wrap around, or begins with no constant."""
    if var.init is None or not var.init.is_constant() or by <= 0 or most + by > var.type.greatest:
        return None
    return (most - var.type.value(var.init.constant_value())) // by


def _put_in(system: TransitionSystem, forms: Terms) -> TransitionSystem | None:
    """``system`` with each start state and each next state in its normal form; None where a start state has none."""
    begin, following = _start(system), {var.symbol: var.next for var in system.state}
    state = []
    for var in system.state:
        if var.symbol in forms:
            form = forms[var.symbol]
            init, after = with_terms([form], begin)[0].simplify(), with_terms([form], following)[0]
            if not init.is_constant():
                return None
            var = replace(var, init=init, next=after)
        state.append(var)
    return replace(system, state=tuple(state), invariants=())


def _by_inputs(
    system: TransitionSystem, pairs: Iterable[tuple[FNode, FNode]]
) -> tuple[list[tuple[FNode, FNode]], list[tuple[FNode, FNode]]]:
    """The pairs of which the first formula reads the state alone, and those of which it reads inputs too."""
    states = {var.symbol for var in system.state}
    of_state, of_steps = list[tuple[FNode, FNode]](), list[tuple[FNode, FNode]]()
    for pair in pairs:
        (of_state if states >= {*symbols_of(pair[0])} else of_steps).append(pair)
    return of_state, of_steps


def _images_after(following: Terms, forms: Terms) -> Iterator[tuple[FNode, FNode]]:
    """The normal forms of the states after a step from a state, and from its normal form, variable by variable."""
    images = with_terms([*following], forms)
    there = dict(zip(following, with_terms([*following.values()], forms), strict=True))
    for symbol, one, other in zip(following, with_terms(images, following), with_terms(images, there), strict=True):
        sums = symbol in forms and symbol.symbol_type().is_bv_type()
        yield (in_one_form(one), in_one_form(other)) if sums else (one, other)


def constants_of(setting: Setting, proof: Certificate, clock: Clock, forms: Terms = NO_FORMS) -> FNode:
    """That the variables which never change, as ``proof`` says and is proved again, have their values; not of those
    that have other ``forms``."""
    changed = {symbol.symbol_name() for symbol in forms}
    named = [name for name in proof.invariants if name.startswith(CONSTANTS)]
    left_alone = tuple(name for name in named if not changed & {*name.removeprefix(CONSTANTS).split(", ")})
    found, _ = assumed(setting, replace(proof, invariants=left_alone, formulas={}), None, clock)
    return found.always


def _alike(setting: Setting, forms: Terms, given: FNode, clock: Clock) -> bool | None:
    """Whether no step tells a state of which ``given`` is true from its normal form; None if the solver gave up.

    Where they do not allow the same it is enough that the normal form allows all that the state does. Comparisons that
    are alike in both, each by a question of its own, are one Boolean in the question about the step.
    """
    system = with_constants(setting.system, given)
    now, later = list[FNode](), list[FNode]()
    for formula in setting.formulas:
        for step, part in parts(formula):
            (later if step else now).append(part)
    cone = replace(system, invariants=()).cone(plain_symbols(setting.formulas))  # no claim is about what they read
    allowed, nexts = And(system.input_constraint, system.defined), [var.next for var in cone]
    same = {} if given.is_true() else _same([allowed, *now, *nexts], forms, given, clock)
    given = conjunction([given, *(Iff(symbol, term) for term, symbol in same.items())])
    allowed, *rest = with_terms([allowed, *now, *nexts], same)
    now, nexts = rest[: len(now)], rest[len(now) :]
    following = {var.symbol: term for var, term in zip(cone, nexts, strict=True)}
    after = {var.symbol: at(var.symbol, 1) for var in system.inputs}
    later = with_terms(later, after)
    always, pairs = _by_inputs(system, zip(now, with_terms(now, forms), strict=True))
    pairs += zip(with_terms(later, following), with_terms(with_terms(later, forms), following), strict=True)
    pairs += _images_after(following, forms)
    allowed_there = with_terms([allowed], forms)[0]
    told: bool | None = None
    for relation in (Iff, Implies):
        unlike = Or(Not(relation(allowed, allowed_there)), _apart(always), And(allowed, _apart(pairs)))
        told = satisfiable(And(given, unlike), clock)
        if told is False:
            return True
    return None if told is None else False


def with_constants(system: TransitionSystem, given: FNode) -> TransitionSystem:
    """``system`` with the values that variables have in all states that are ``given``: what only such a value makes
    matter, or not, depends on less then."""
    values = values_in(given)
    if not values:
        return system
    terms = [system.input_constraint, system.defined, *(var.next for var in system.state)]
    allowed, defined, *nexts = (term.simplify() for term in with_terms(terms, values))
    state = tuple(replace(var, next=term) for var, term in zip(system.state, nexts, strict=True))
    return replace(system, state=state, input_constraint=allowed, defined=defined)


def values_in(given: FNode) -> Terms:
    """The constants that symbols are, as parts of ``given`` say."""
    sides = [part.args() for part in conjuncts(given) if part.is_equals() or part.is_iff()]
    return {one: other for one, other in sides if one.is_symbol() and other.is_constant()}


def _apart(pairs: Iterable[tuple[FNode, FNode]]) -> FNode:
    return Or([Not(equal(one, other)) for one, other in pairs if one is not other])


def _same(formulas: Sequence[FNode], forms: Terms, given: FNode, clock: Clock) -> dict[FNode, FNode]:
    """The comparisons in ``formulas`` that are the same of a state of which ``given`` is true and of its normal form,
    as far as that is found out, each with a symbol for its truth."""
    reads, found = {*forms}, dict[FNode, FNode]()
    for term in post_order(formulas):
        if not any(arg in reads for arg in term.args()):
            continue
        if term.node_type() not in COMPARISONS:
            reads |= {term} if not term.get_type().is_bool_type() or term.is_ite() else set()
        elif satisfiable(And(given, Not(Iff(term, with_terms([term], forms)[0]))), clock) is False:
            found[term] = Symbol(f"{COMPARED}{len(found)}")
    return found


def parts(formula: FNode) -> Iterator[tuple[int, FNode]]:
    """Parts of a framed ``formula`` that each read one step, with that step, plain; its truth depends on them alone.

    What has to hold at the same step is one part, and so are alternatives at the same step.
    """
    todo, met = [formula], set[FNode]()
    while todo:
        part = todo.pop()
        if part in met:
            continue
        met.add(part)
        by_step: dict[int, list[FNode]] = {}
        for each in disjuncts(part) if part.is_or() else conjuncts(part):
            steps = steps_of(each)
            if len(steps) == 1:
                by_step.setdefault(steps.pop(), []).append(each)
            elif each is part:
                todo.extend(part.args())
            elif steps:
                todo.append(each)
        for step, together in by_step.items():
            whole = together[0] if len(together) == 1 else Or(together) if part.is_or() else And(together)
            yield step, unplaced([whole])[0]
