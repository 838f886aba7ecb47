"""The normal form of states that a certificate speaks of: proved again by one question to the solver, then put in.

A run and the run of its states' normal forms must look alike for ever. It is enough that of any state, under any
inputs, the state and its normal form allow the same steps, show the same of goals and end, and have next states of one
normal form. Of any state in which the constants that the certificate lists have their values: these are proved again
for the states as they are, and hold of a normal form, too, where it leaves them alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pysmt.exceptions import PysmtTypeError
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Iff, Not, Or, Symbol

from bmc.formulas.unroll import at, plain, unframed, with_terms
from bmc.system.transition import StateVariable, TransitionSystem, equal, symbols_of
from chaincover.certificate import Certificate
from chaincover.verify.clauses import Clauses
from chaincover.verify.invariants import CONSTANTS, assumed, formula_of
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line
from chaincover.verify.setting import Setting

NORMAL_FORM = "normal form"
LATER = 1
"""The step of the inputs that come after the step that is looked at."""

Terms = Mapping[FNode, FNode]
"""For symbols of the state what they are in the normal form."""


def normal_setting(setting: Setting, proof: Certificate | None, clock: Clock) -> tuple[Setting, Terms, Line]:
    """``setting`` on states in the normal form of ``proof``, and how they get there; as it is where none is proved."""
    if proof is None or not proof.normal_form:
        return setting, {}, Line(NORMAL_FORM, UNCLAIMED, "the certificate speaks of states as they are")
    known = {var.name: var for var in setting.system.state}
    forms: dict[FNode, FNode] = {}
    for name, text in proof.normal_form.items():
        term = _term(known[name], text, known) if name in known else None
        if term is None:
            return setting, {}, Line(NORMAL_FORM, WRONG, f"'{text}' is no value of a variable '{name}'")
        forms[known[name].symbol] = term
    names = ", ".join(proof.normal_form)
    normal = _put_in(setting.system, forms)
    if normal is None:
        return setting, {}, Line(NORMAL_FORM, WRONG, f"of {names}: the start state has none")
    alike = _alike(setting, forms, _constants(setting, proof, forms, clock), clock)
    if alike is None:
        return setting, {}, Line(NORMAL_FORM, OPEN, f"of {names}: the solver did not finish")
    if not alike:
        return setting, {}, Line(NORMAL_FORM, WRONG, f"of {names}: some step tells a state from its normal form")
    text = f"of {names}: no step, goal or end can tell a state from it"
    return replace(setting, system=normal), forms, Line(NORMAL_FORM, HOLDS, text)


def _term(var: StateVariable, text: str, known: Mapping[str, StateVariable]) -> FNode | None:
    """The term that a text in SMT-LIB is, of the type of ``var``; None if it is none."""
    same = formula_of(f"(= |{var.name}| {text})", known)
    if same is None or not (same.is_equals() or same.is_iff()) or same.arg(0) is not var.symbol:
        return None
    try:
        return same.arg(1) if same.arg(1).get_type() == var.symbol.get_type() else None
    except PysmtTypeError:
        return None


def _put_in(system: TransitionSystem, forms: Terms) -> TransitionSystem | None:
    """``system`` with each start state and each next state in its normal form; None where a start state has none."""
    begin = {var.symbol: var.init for var in system.state if var.init is not None}
    following = {var.symbol: var.next for var in system.state}
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


def _constants(setting: Setting, proof: Certificate, forms: Terms, clock: Clock) -> FNode:
    """That the variables which never change, as ``proof`` says and is proved again, have their values."""
    changed = {symbol.symbol_name() for symbol in forms}
    named = [name for name in proof.invariants if name.startswith(CONSTANTS)]
    left_alone = tuple(name for name in named if not changed & {*name.removeprefix(CONSTANTS).split(", ")})
    found, _ = assumed(setting, replace(proof, invariants=left_alone, formulas={}), None, clock)
    return found.always


def _alike(setting: Setting, forms: Terms, given: FNode, clock: Clock) -> bool | None:
    """Whether no step tells a state of which ``given`` is true from its normal form; None if the solver gave up."""
    system = setting.system
    now, later = list[FNode](), list[FNode]()
    for formula in setting.formulas:
        for step, part in parts(formula):
            (later if step else now).append(part)
    cone = system.cone(sorted({plain(s) for f in setting.formulas for s in symbols_of(f)}, key=str))
    following = {var.symbol: var.next for var in cone}
    after = {var.symbol: Symbol(f"{var.name}@{LATER}", var.symbol.get_type()) for var in system.inputs}
    allowed = And(system.input_constraint, system.defined)
    later = with_terms(later, after)
    pairs = list(zip(now, with_terms(now, forms), strict=True))
    pairs += zip(with_terms(later, following), with_terms(with_terms(later, forms), following), strict=True)
    ahead = with_terms([*following.values()], forms)
    states = with_terms([*following], forms)
    there = dict(zip(following, ahead, strict=True))
    pairs += zip(with_terms(states, following), with_terms(states, there), strict=True)
    apart = Or([Not(equal(one, other)) for one, other in pairs if one is not other])
    told = Or(Not(Iff(allowed, with_terms([allowed], forms)[0])), And(allowed, apart))
    clauses = Clauses(clock)
    found = clauses.possible(TRUE(), [clauses.placed(at(And(given, told), 0))])
    return None if found is None else not found


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
        for each in _split(part):
            steps = {unframed(symbol)[1] for symbol in symbols_of(each)}
            if len(steps) == 1:
                by_step.setdefault(steps.pop(), []).append(each)
            elif each is part:
                todo.extend(part.args())
            elif steps:
                todo.append(each)
        for step, together in by_step.items():
            whole = together[0] if len(together) == 1 else Or(together) if part.is_or() else And(together)
            yield step, with_terms([whole], {s: plain(s) for s in symbols_of(whole)})[0]


def _split(formula: FNode) -> Iterator[FNode]:
    """What ``formula`` joins by and, or by or; itself if it is neither."""
    todo = [formula]
    while todo:
        part = todo.pop()
        if part.node_type() == formula.node_type() and (part.is_and() or part.is_or()):
            todo.extend(part.args())
        else:
            yield part
