"""What the proof of a lower bound uses, as plain data: every fact can be checked by itself by another program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from io import StringIO
from typing import TYPE_CHECKING, Any

from pysmt.environment import Environment, get_env
from pysmt.exceptions import PysmtTypeError
from pysmt.fnode import FNode
from pysmt.shortcuts import get_type
from pysmt.smtlib.printers import to_smtlib

from bmc.records import dataclass
from bmc.system.transition import StateVariable

if TYPE_CHECKING:
    from properties.one_step import OneStep


@dataclass(frozen=True, slots=True)
class EdgeFact:
    """No run satisfies all of ``source`` from step 0 and all of ``target`` from a step before ``at_least``.

    Runs begin in init where ``source`` is init, else in any state that satisfies the invariants. Where ``target`` is
    the end node, the run ends there, not before the end of ``source``. With overlap ``forbid`` ``target`` starts no
    earlier than ``source`` ends.
    """

    source: str
    target: str
    at_least: int


@dataclass(frozen=True, slots=True)
class PathFact:
    """No run covers the nodes of ``path`` in this order, the last one less than ``at_least`` steps after the first.

    The first node starts at step 0 (runs begin as in ``EdgeFact``); each later one no earlier than the one before
    starts (with overlap ``forbid``: ends). Where the last node is the end, the run ends there, not before the
    end of any goal of ``path``.
    """

    path: tuple[str, ...]
    at_least: int


@dataclass(frozen=True, slots=True)
class MostFact:
    """No run from init that ends in the end condition covers more than ``number`` of ``goals``."""

    goals: tuple[str, ...]
    number: int


@dataclass(frozen=True, slots=True)
class CutPrice:
    """A run pays ``price`` once it enters one of the states ``inside``, or begins there, or covers ``goal`` outside of
    them: a run that covers ``goal`` does one of these. ``inside`` are numbers of states in ``Prices.states``."""

    goal: str
    price: int
    inside: tuple[int, ...]


@dataclass(frozen=True)
class Prices:
    """A solution of the dual of the covering flow: what each goal is worth, in parts of a step (``scale`` to a step).

    Each step costs ``scale``, less the prices of the goals that it completes and of the cuts that it crosses. A run
    that covers all goals collects each price at least once, so it takes at least the sum of all prices and the cheapest
    way from init to an end, divided by ``scale``. ``states`` are the states that cuts speak of, each with the values of
    ``variables``.
    """

    scale: int
    goals: Mapping[str, int]
    cuts: tuple[CutPrice, ...] = ()
    variables: tuple[str, ...] = ()
    states: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class OrderProof:
    """Why no order of goals takes fewer steps than so many: prices, in parts of a step (``scale`` to a step).

    Each of ``nodes`` has a price, and each set of nodes of ``cuts``, and each sub-path of ``paths``: a solution of the
    dual of the linear program over edges and delays. Where they do not suffice there are two ``cases``: the next node
    after ``node`` is one of ``following``, or it is none of them.
    """

    scale: int
    nodes: Mapping[str, int]
    cuts: tuple[tuple[tuple[str, ...], int], ...] = ()
    paths: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    node: str = ""
    following: tuple[str, ...] = ()
    cases: tuple[OrderProof, ...] = ()

    @property
    def leaves(self) -> int:
        """The number of cases that are not divided any more."""
        return sum(case.leaves for case in self.cases) if self.cases else 1


@dataclass(frozen=True)
class Acceleration:
    """``cells`` has for each counter the first values of its cells, rising from 0: the last one ends with the greatest
    value. In two states that differ only in counters, within cells, the same inputs are allowed and do the same; each
    counter moves by the same or gets the same value, one of them at most moves, and goals and end look alike.

    So steps that only move a counter may be skipped until it leaves its cell: with the value of a counter ``kept`` over
    so many steps that do more, no path through what is left takes fewer than ``bound`` steps. ``slow`` are the counters
    for which it matters that other steps lie between two steps that move them.
    """

    cells: Mapping[str, tuple[int, ...]]
    kept: int
    bound: int
    slow: tuple[str, ...] = ()


@dataclass(frozen=True)
class Validity:
    """Of which states a normal form is proved: those of which ``holds``, in SMT-LIB over the names of state variables,
    is true, and in which each variable of ``rises`` is at most the first number there; from such a state it rises by at
    most the second in a step. Start states are such states.

    So the state after k steps is one as long as its start value and k times the second number are at most the first:
    ``steps`` steps, or any number where that is None.
    """

    holds: str
    rises: Mapping[str, tuple[int, int]]
    steps: int | None


@dataclass(frozen=True)
class Certificate:
    """Why no chain through ``goals`` is shorter than ``lower`` steps, and what no chain at all can do.

    ``order_bound``: no order of the goals takes fewer steps, each edge taking at least its ``EdgeFact`` (one for every
    pair of nodes but those into init, out of the end, and from init to the end if there are goals), each contiguous
    sub-path with a ``PathFact`` at least that; nor less than the edges from init to one goal and from it to the end.
    ``refuted``: the lengths from the first up to but without the second, for each of which no run of exactly this
    length from init covers all goals and ends in the end condition; the first is at most ``order_bound``.
    ``flow_bound``: by what ``prices`` say no chain takes fewer steps. ``exhausted``: the number of reachable states, if
    all runs through these shorter than ``lower`` were searched; 0 if not. ``counted``: the variables whose combinations
    this number and that of ``invariants`` count. Both numbers are informative: another search may have to look at more
    variables, or at fewer. ``acceleration``: what is known of counters,
    and the bound by a search in jumps over their values. ``invariants`` are the names of those that hold in the first
    state of every run; ``formulas`` says in SMT-LIB, over the names of state variables, what they are, but for those
    that the program states and for the number of reachable states.

    ``normal_form`` says in SMT-LIB, over the names of state variables, what some of them are in the normal form of a
    state: all of the above speaks of states in their normal form, to which each step leads. In a state and in its
    normal form the same inputs are allowed, lead to states of one normal form, and goals and end look alike.

    ``monitors`` says in SMT-LIB what a goal of several steps asks of its last step (over the names of variables before
    it, ``@0``, and after it, ``@1``), and what each variable of a monitor becomes in a step (``properties.one_step``).
    All of the above speaks of these goals then: a fact's steps are from the last step of one to the last step of
    another.

    ``unreachable``: goals that no run covers. ``no_way_to_end``: goals that no run covers which ends in the end
    condition. ``conflicts``: sets of goals that no such run covers together. ``most``: how many one run covers at most.
    These speak of runs of any length. Without a chain ``goals`` are those that one was sought for, or none where
    ``lower`` is 0.
    """

    goals: tuple[str, ...]
    end: str
    overlap: str
    invariants: tuple[str, ...]
    edges: tuple[EdgeFact, ...]
    paths: tuple[PathFact, ...]
    order_bound: int
    refuted: tuple[int, int]
    exhausted: int
    lower: int
    formulas: Mapping[str, str] = field(default_factory=dict)
    normal_form: Mapping[str, str] = field(default_factory=dict)
    validity: Validity | None = None
    unreachable: tuple[str, ...] = ()
    no_way_to_end: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, ...], ...] = ()
    most: MostFact | None = None
    flow_bound: int = 0
    prices: Prices | None = None
    acceleration: Acceleration | None = None
    counted: tuple[str, ...] = ()
    monitors: Mapping[str, str] = field(default_factory=dict)


def formula_text(formula: FNode) -> str:
    """A formula over plain state symbols as it stands in ``Certificate.formulas``."""
    return str(to_smtlib(formula))


def formula_of(text: str, variables: Mapping[str, StateVariable]) -> FNode | None:
    """The formula over ``variables`` that ``formula_text`` wrote as ``text``; None if it is none.

    It is read with names of its own: what fails half-way leaves parts behind that later formulas would meet.
    """
    from pysmt.smtlib.parser import SmtLibParser  # here, for runs that only write do without it

    declared = "".join(f"(declare-fun |{v.name}| () {_sort(v)})" for v in variables.values())
    try:
        script = SmtLibParser(Environment()).get_script(StringIO(f"{declared}(assert {text}\n)"))
        if len(script.commands) != len(variables) + 1:  # the text goes on after the end of its formula
            return None
        found = script.get_last_formula()
        read = get_env().formula_manager.normalize(found) if isinstance(found, FNode) else None
        return read if read is not None and get_type(read).is_bool_type() else None
    except Exception:  # pysmt's parser raises errors of all kinds at a text that is no formula
        return None


def _sort(var: StateVariable) -> str:
    return f"(_ BitVec {var.type.bits})" if var.type.bits else "Bool"


def term_of(var: StateVariable, text: str, variables: Mapping[str, StateVariable]) -> FNode | None:
    """The term over ``variables``, of the type of ``var``, that ``text`` is in SMT-LIB; None if it is none."""
    same = formula_of(f"(= |{var.name}| {text})", variables)
    if same is None or not (same.is_equals() or same.is_iff()) or same.arg(0) is not var.symbol:
        return None
    try:
        return same.arg(1) if same.arg(1).get_type() == var.symbol.get_type() else None
    except PysmtTypeError:
        return None


def monitor_texts(made: OneStep) -> dict[str, str]:
    """What each goal that was changed asks of a step, and what each variable of a monitor is after a step, in SMT-LIB:
    as they stand in ``Certificate.monitors``."""
    goals = {goal.name: formula_text(goal.antecedent) for goal in made.goals if goal.name in made.earlier}
    return goals | {var.name: formula_text(var.next) for var in made.system.state if var.name in made.made}


def as_data(certificate: Certificate) -> dict[str, Any]:
    """The certificate as it stands in ``chain.json``."""
    return {
        "goals": list(certificate.goals),
        "end": certificate.end,
        "overlap": certificate.overlap,
        "invariants": list(certificate.invariants),
        "edges": [{"from": f.source, "to": f.target, "at_least": f.at_least} for f in certificate.edges],
        "paths": [{"path": list(f.path), "at_least": f.at_least} for f in certificate.paths],
        "order_bound": certificate.order_bound,
        "refuted": list(certificate.refuted),
        "exhausted": certificate.exhausted,
        "counted": list(certificate.counted),
        "monitors": dict(certificate.monitors),
        "lower": certificate.lower,
        "formulas": dict(certificate.formulas),
        "normal_form": dict(certificate.normal_form),
        "validity": None
        if certificate.validity is None
        else {
            "holds": certificate.validity.holds,
            "rises": {name: list(rise) for name, rise in certificate.validity.rises.items()},
            "steps": certificate.validity.steps,
        },
        "unreachable": list(certificate.unreachable),
        "no_way_to_end": list(certificate.no_way_to_end),
        "conflicts": [list(names) for names in certificate.conflicts],
        "most": None
        if certificate.most is None
        else {"goals": list(certificate.most.goals), "number": certificate.most.number},
        "flow_bound": certificate.flow_bound,
        "prices": None if certificate.prices is None else _prices_data(certificate.prices),
        "acceleration": None
        if certificate.acceleration is None
        else {
            "cells": {name: list(starts) for name, starts in certificate.acceleration.cells.items()},
            "kept": certificate.acceleration.kept,
            "bound": certificate.acceleration.bound,
            "slow": list(certificate.acceleration.slow),
        },
    }


def _prices_data(prices: Prices) -> dict[str, Any]:
    return {
        "scale": prices.scale,
        "goals": dict(prices.goals),
        "cuts": [{"goal": cut.goal, "price": cut.price, "inside": list(cut.inside)} for cut in prices.cuts],
        "variables": list(prices.variables),
        "states": [list(state) for state in prices.states],
    }


def _prices_from(data: Mapping[str, Any]) -> Prices:
    return Prices(
        scale=int(data["scale"]),
        goals={str(goal): int(price) for goal, price in data["goals"].items()},
        cuts=tuple(CutPrice(str(c["goal"]), int(c["price"]), tuple(map(int, c["inside"]))) for c in data["cuts"]),
        variables=tuple(str(name) for name in data["variables"]),
        states=tuple(tuple(int(value) for value in state) for state in data["states"]),
    )


def _validity_from(data: Mapping[str, Any]) -> Validity:
    rises = {str(name): (int(most), int(by)) for name, (most, by) in data["rises"].items()}
    return Validity(str(data["holds"]), rises, None if data["steps"] is None else int(data["steps"]))


def from_data(data: Mapping[str, Any]) -> Certificate:
    """The certificate that ``as_data`` gave. KeyError, TypeError or ValueError where it is damaged."""
    low, high = map(int, data["refuted"])
    if not 0 <= low <= high:
        raise ValueError(f"lengths {low} to {high} are refuted")
    most = data.get("most")
    jumps = data.get("acceleration")
    return Certificate(
        goals=tuple(str(name) for name in data["goals"]),
        end=str(data["end"]),
        overlap=str(data["overlap"]),
        invariants=tuple(str(name) for name in data["invariants"]),
        edges=tuple(EdgeFact(str(f["from"]), str(f["to"]), int(f["at_least"])) for f in data["edges"]),
        paths=tuple(PathFact(tuple(str(n) for n in f["path"]), int(f["at_least"])) for f in data["paths"]),
        order_bound=int(data["order_bound"]),
        refuted=(low, high),
        exhausted=int(data["exhausted"]),
        lower=int(data["lower"]),
        formulas={str(name): str(text) for name, text in data.get("formulas", {}).items()},
        normal_form={str(name): str(text) for name, text in data.get("normal_form", {}).items()},
        validity=None if data.get("validity") is None else _validity_from(data["validity"]),
        unreachable=tuple(str(name) for name in data.get("unreachable", ())),
        no_way_to_end=tuple(str(name) for name in data.get("no_way_to_end", ())),
        conflicts=tuple(tuple(str(name) for name in names) for names in data.get("conflicts", ())),
        most=None if most is None else MostFact(tuple(str(name) for name in most["goals"]), int(most["number"])),
        flow_bound=int(data.get("flow_bound", 0)),
        prices=None if data.get("prices") is None else _prices_from(data["prices"]),
        acceleration=None
        if jumps is None
        else Acceleration(
            {str(name): tuple(map(int, starts)) for name, starts in jumps["cells"].items()},
            int(jumps["kept"]),
            int(jumps["bound"]),
            tuple(str(name) for name in jumps.get("slow", ())),
        ),
        counted=tuple(str(name) for name in data.get("counted", ())),
        monitors={str(name): str(text) for name, text in data.get("monitors", {}).items()},
    )
