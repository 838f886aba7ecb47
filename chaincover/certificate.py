"""What the proof of a lower bound uses, as plain data: every fact can be checked by itself by another program."""

from __future__ import annotations

import json
from collections import UserList, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from functools import lru_cache
from io import StringIO
from itertools import zip_longest
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

NEVER, INDUCTIVE, PRICES, SIMULATES = "never", "inductive", "prices", "simulates"
"""The kinds of claims."""


@dataclass(frozen=True, slots=True)
class PathFact:
    """No run covers the nodes of ``path`` in this order, the last one less than ``at_least`` steps after the first.

    The first node starts at step 0, in init where it is init, else in any state that satisfies the invariants; each
    later one starts no earlier than the one before starts (with overlap ``forbid``: ends). Where the last node is the
    end, the run ends there, not before the end of any goal of ``path``. A path of two nodes is an edge.
    """

    path: tuple[str, ...]
    at_least: int


@dataclass(frozen=True, slots=True)
class NoRun:
    """No run from init of ``first`` steps or more, and of fewer than ``before`` (None: of any length), covers ``least``
    of ``goals`` (None: all). With ``to_end`` it speaks only of runs that end in the final condition."""

    goals: tuple[str, ...]
    least: int | None = None
    before: int | None = None
    to_end: bool = True
    first: int = 0

    @property
    def enough(self) -> int:
        """How many of the goals, each counted once, no such run covers."""
        return len({*self.goals}) if self.least is None else self.least

    def implies(self, other: NoRun) -> bool:
        """Whether every run that ``other`` speaks of, and that disproves it, disproves this claim too."""
        longer = self.before is None or (other.before is not None and other.before <= self.before)
        runs = longer and self.first <= other.first and (other.to_end or not self.to_end)
        return runs and other.enough - len({*other.goals} - {*self.goals}) >= self.enough


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

    Each step costs ``scale``, less the prices of the goals that it completes and of the cuts that it crosses. Runs that
    cover all goals together collect each price at least once. So ``chains`` such runs take at least the sum of all
    prices, and for each run the cheapest way from init to an end, divided by ``scale``: at least ``bound`` steps.
    ``chains`` is None where the number of runs is bounded: there a step costs nothing (``scale`` is 0), and the sum of
    all prices, divided by the most that one run collects, is at least ``bound`` runs. ``states`` are the states that
    cuts speak of, each with the values of ``variables``.
    """

    scale: int
    goals: Mapping[str, int]
    cuts: tuple[CutPrice, ...] = ()
    variables: tuple[str, ...] = ()
    states: tuple[tuple[int, ...], ...] = ()
    bound: int = 0
    chains: int | None = 1


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
class Part:
    """A ``proof`` about a smaller system: of the state variables only those ``visible`` are left, every other one is an
    input that may have any of its values in each step. Its goals are some of those of the whole, and read no other
    variables. ``values`` says in SMT-LIB, over the names of state variables, which values they have: it is true in
    start states, and kept by every step.

    Where the final condition reads others, runs may end anywhere; conditions on a step to be defined that read others
    are left out. It speaks of states as they are, with monitors.
    """

    visible: tuple[str, ...]
    values: str
    proof: Certificate


@dataclass(frozen=True)
class Certificate:
    """Why no chain through ``goals`` is shorter than ``lower`` steps, and what no chain at all can do.

    ``order_bound``: no order of the goals takes fewer steps, each of ``edges`` taking at least what it says (one for
    every pair of nodes but those into init, out of the end, and from init to the end if there are goals), each
    contiguous sub-path of ``paths`` at least that; nor less than the edges from init to one goal and from it to the
    end. ``refuted``: the lengths from the first up to but without the second, for each of which no run of exactly this
    length from init covers all goals and ends in the end condition; the first is at most ``order_bound``.
    ``prices``: by these no chain takes fewer steps than their bound; those of ``together`` speak of several chains that
    cover the goals together, and not one by one. ``exhausted``: the number of reachable states, if
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
    condition. ``conflicts``: sets of goals that no such run covers together. ``most``: of so many goals one run covers
    fewer than ``most.least``.
    These speak of runs of any length. Without a chain ``goals`` are those that one was sought for, or none where
    ``lower`` is 0.
    """

    goals: tuple[str, ...]
    end: str
    overlap: str
    lower: int = 0
    invariants: tuple[str, ...] = ()
    formulas: Mapping[str, str] = field(default_factory=dict)
    edges: tuple[PathFact, ...] = ()
    paths: tuple[PathFact, ...] = ()
    order_bound: int = 0
    refuted: tuple[int, int] = (0, 0)
    exhausted: int = 0
    normal_form: Mapping[str, str] = field(default_factory=dict)
    validity: Validity | None = None
    unreachable: tuple[str, ...] = ()
    no_way_to_end: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, ...], ...] = ()
    most: NoRun | None = None
    prices: Prices | None = None
    together: tuple[Prices, ...] = ()
    acceleration: Acceleration | None = None
    counted: tuple[str, ...] = ()
    monitors: Mapping[str, str] = field(default_factory=dict)
    part: Part | None = None

    @property
    def refuted_lengths(self) -> NoRun | None:
        """That no chain has one of the lengths that are refuted one by one; None without any."""
        lengths = NoRun(self.goals, before=self.refuted[1], first=self.refuted[0])
        return lengths if 0 <= self.refuted[0] < self.refuted[1] else None


@lru_cache(maxsize=1 << 10)  # each better bound is told with the same formulas
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
    """The certificate as it stands in ``chain.json``: what its claims share, and their list, each on a line."""
    return {
        "goals": [*certificate.goals],
        "end": certificate.end,
        "overlap": certificate.overlap,
        "lower": certificate.lower,
        "monitors": dict(certificate.monitors),
        "counted": [*certificate.counted],
        "claims": UserList(_claims(certificate)),
    }


def _claims(proof: Certificate) -> list[dict[str, Any]]:
    """The claims of ``proof`` as data, kind by kind."""
    bounds = [{"of": "orders", "bound": proof.order_bound}] if proof.order_bound else []
    form = {"normal_form": dict(proof.normal_form), "validity": proof.validity}
    by_kind: dict[str, list[dict[str, Any]]] = {
        NEVER: _never(proof),
        INDUCTIVE: [{"name": name, "formula": proof.formulas.get(name)} for name in proof.invariants],
        PRICES: [*bounds, *map(_priced, [*filter(None, [proof.prices]), *proof.together])],
        SIMULATES: [_plain(form)] if proof.normal_form or proof.validity is not None else [],
    }
    by_kind[SIMULATES] += map(_plain, filter(None, [proof.acceleration]))
    by_kind[SIMULATES] += map(_localised, filter(None, [proof.part]))
    return [{"claim": kind, **claim} for kind, claims in by_kind.items() for claim in claims]


def _never(proof: Certificate) -> list[dict[str, Any]]:
    """What ``proof`` says that no run does."""
    runs = [
        *filter(None, [proof.refuted_lengths]),
        *(NoRun((name,), to_end=False) for name in proof.unreachable),
        *(NoRun((name,)) for name in proof.no_way_to_end),
        *(NoRun(names) for names in proof.conflicts),
        *filter(None, [proof.most]),
    ]
    search = {**_plain(NoRun(proof.goals, before=proof.lower)), "searched": proof.exhausted}
    paths = [{"path": [*fact.path], "before": fact.at_least} for fact in (*proof.edges, *proof.paths)]
    return [*paths, *map(_plain, runs), *([search] if proof.exhausted else [])]


def _priced(prices: Prices) -> dict[str, Any]:
    """The claim of ``prices``: only of several chains it says how many there are."""
    claim = _plain(prices)
    chains = claim.pop("chains")
    if chains == 1:
        return {"of": "states", **claim}
    return {"of": "number", **claim} if chains is None else {"of": "chains", "chains": chains, **claim}


def _localised(part: Part) -> dict[str, Any]:
    """The claim of ``part``: a certificate within the certificate."""
    return {
        "visible": [*part.visible],
        "values": part.values,
        "proof": {**as_data(part.proof), "claims": _claims(part.proof)},
    }


def _plain(value: Any) -> Any:
    """``value``, which is made of records, mappings and tuples, as it stands in JSON."""
    return json.loads(json.dumps(value, default=asdict))


def from_data(data: Mapping[str, Any], several: bool = False) -> Certificate:
    """The certificate that ``as_data`` gave. KeyError, TypeError or ValueError where it is damaged.

    ``several``: it is that of several chains, which alone may claim something of how many there are.

    Each claim is read by the field that only its kind has. What is no claim of any kind, or one that a certificate has
    once and that stands twice, or stands elsewhere in the list, would not be written like that, and is refused.
    """
    claims = [*data["claims"]]
    names = {str(claim["name"]): claim["formula"] for claim in _with(claims, "name")}
    form: Mapping[str, Any] = next(iter(_with(claims, "normal_form")), {"normal_form": {}, "validity": None})
    prices = [*map(_prices, _with(claims, "scale"))]
    certificate = Certificate(
        goals=_names(data["goals"]),
        end=str(data["end"]),
        overlap=str(data["overlap"]),
        lower=int(data["lower"]),
        invariants=(*names,),
        formulas=_texts({name: text for name, text in names.items() if text is not None}),
        order_bound=next((int(claim["bound"]) for claim in _with(claims, "of") if claim["of"] == "orders"), 0),
        normal_form=_texts(form["normal_form"]),
        validity=_validity(form["validity"]),
        prices=next((each for each in prices if each.chains == 1), None),
        together=tuple(each for each in prices if each.chains != 1),
        acceleration=next(map(_acceleration, _with(claims, "cells")), None),
        part=next(map(_part, _with(claims, "visible")), None),
        counted=_names(data["counted"]),
        monitors=_texts(data["monitors"]),
        **_no_runs(claims),
    )
    for place, (own, told) in enumerate(zip_longest(_claims(certificate), claims)):
        if own != told:
            raise ValueError(f"certificate.claims[{place}] is no claim that a certificate has there")
    if certificate.together and not several:
        raise ValueError("certificate.claims has prices of several chains, which only chains.json has")
    return certificate


def _with(claims: Iterable[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    """Those of ``claims`` that have a field of this ``name``."""
    return [claim for claim in claims if name in claim]


def _no_runs(claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What ``claims`` say that no run does, by the fields of a certificate."""
    paths = [PathFact(_names(claim["path"]), int(claim["before"])) for claim in _with(claims, "path")]
    runs: dict[str, list[NoRun]] = defaultdict(list)
    for run in [_no_run(claim) for claim in _with(claims, "least") if "searched" not in claim]:
        runs[_field_of(run)].append(run)
    return {
        "edges": tuple(fact for fact in paths if len(fact.path) == 2),
        "paths": tuple(fact for fact in paths if len(fact.path) != 2),
        "refuted": next(((run.first, run.before) for run in runs["refuted"]), (0, 0)),
        "exhausted": next((int(claim["searched"]) for claim in _with(claims, "searched")), 0),
        "unreachable": tuple(name for run in runs["unreachable"] for name in run.goals),
        "no_way_to_end": tuple(run.goals[0] for run in runs["no_way_to_end"]),
        "conflicts": tuple(run.goals for run in runs["conflicts"]),
        "most": next(iter(runs["most"]), None),
    }


def _field_of(run: NoRun) -> str:
    """The field of a certificate that says what ``run`` says, if ``_never`` wrote it."""
    if run.before is not None:
        return "refuted"
    if not run.to_end:
        return "unreachable"
    if run.least is not None:
        return "most"
    return "no_way_to_end" if len(run.goals) == 1 else "conflicts"


def _no_run(data: Mapping[str, Any]) -> NoRun:
    least, before = (None if data[name] is None else int(data[name]) for name in ("least", "before"))
    return NoRun(_names(data["goals"]), least, before, bool(data["to_end"]), int(data["first"]))


def _prices(data: Mapping[str, Any]) -> Prices:
    return Prices(
        bound=int(data["bound"]),
        scale=int(data["scale"]),
        goals={str(goal): int(price) for goal, price in data["goals"].items()},
        cuts=tuple(CutPrice(str(c["goal"]), int(c["price"]), tuple(map(int, c["inside"]))) for c in data["cuts"]),
        variables=_names(data["variables"]),
        states=tuple(tuple(map(int, state)) for state in data["states"]),
        chains=int(data["chains"]) if data["of"] == "chains" else None if data["of"] == "number" else 1,
    )


def _validity(data: Mapping[str, Any] | None) -> Validity | None:
    if data is None:
        return None
    rises = {str(name): (int(most), int(by)) for name, (most, by) in data["rises"].items()}
    return Validity(str(data["holds"]), rises, None if data["steps"] is None else int(data["steps"]))


def _acceleration(data: Mapping[str, Any]) -> Acceleration:
    cells = {str(name): tuple(map(int, starts)) for name, starts in data["cells"].items()}
    return Acceleration(cells, int(data["kept"]), int(data["bound"]), _names(data["slow"]))


def _part(data: Mapping[str, Any]) -> Part:
    return Part(_names(data["visible"]), str(data["values"]), from_data(data["proof"]))


def _names(data: Any) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
        raise TypeError(f"{data!r} is no list of names")
    return tuple(data)


def _texts(data: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(text) for name, text in data.items()}
