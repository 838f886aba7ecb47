"""Counters that are compared through their differences only: the state keeps these, and not how far all have counted.

A clock that nothing sets back has states without end, though all that matters is how far times that were taken from it
lie behind. In the image of a state the clock (or any other counter, as the *reference* of its group) has one value,
``base``, and the others lie as far from it as they did. Whether a step can tell a state from its image is one question
to a solver (``alike``); what happens where a counter wraps around decides in which of three ways the answer is no:

- of any state: ``now - last >= 100`` in the counter's own width is right across a wrap, and nothing more is needed;
- of any state in which the differences lie in some span, which a second question proves of all states of all runs;
- of any state in which no counter has wrapped yet. Then ``now >= last + 100``, and every other comparison, is that of
  whole numbers, and the image, whose ``base`` lies near the greatest value, compares the same whole numbers. The clock
  rises by at most ``by`` in a step, so after k steps it is at most its start value and k times as much, and no state
  before the first step at which a wrap is possible is left out: ``steps`` says how many steps a run may have.

  By induction over the steps a run of up to ``steps`` steps and the run of the images under the same inputs allow the
  same and look alike, each way. So what no run of the images does in n steps, no run does, if n is at most ``steps``:
  a bound on lengths holds up to there. What no run of the images ever does a run may do after the wrap: that something
  is unreachable, or never violated, or has no way to an end, does not follow.

  Where a counter is signed and its overflow undefined, no run goes on after it. Then each run has a run of the images,
  whatever its length; only the other way round ``steps`` is the limit.

As whole numbers, differences beyond the greatest that some step or goal compares with are alike: a time that was taken
long ago is as good as one that was taken ``cap`` ago. How long that is the solver says, by telling two times apart that
were held for alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULE, TRUE, And, Iff, Not

from bmc.engines.protocol import Status
from bmc.explicit.batch import RUNS, STEPS, Batch
from bmc.formulas.evaluate import compile_formulas, post_order
from bmc.formulas.terms import COMPARISONS
from bmc.formulas.unroll import at, with_terms
from bmc.invariants.alike import Among, Look, Step, Terms, against, some_values
from bmc.invariants.compared_counters import (
    Group,
    Rise,
    at_most,
    below,
    both_steps,
    groups,
    start_of,
    with_references,
)
from bmc.invariants.induction import Prover
from bmc.records import dataclass
from bmc.system.transition import BOOLEAN, InputVariable, TransitionSystem, Valuation, conjunction, equal

COMPARED = "compared "
"""Before the number of a comparison: the input in its place."""

ROUNDS = 12
"""Times that the solver may tell apart two times that were held for alike before each difference is kept: about as many
as there are constants with which one time is compared."""


@dataclass(frozen=True)
class Form:
    """A map of states: ``terms`` say what some variables are in the image of a state.

    No step tells a state from its image if ``holds`` is true of it and each counter of ``rises`` is at most as great as
    that says; start states are such states, and so is the state after each step from one, but for a rise too far.
    ``sure``: every run of images of up to so many steps is that of a run of states; None: every run of images is.
    """

    terms: Terms = field(default_factory=dict)
    holds: FNode = field(default_factory=TRUE)
    rises: Mapping[str, Rise] = field(default_factory=dict)
    sure: int | None = None

    def then(self, other: Form) -> Form:
        """The form of ``other`` on the images of this one, which leave the counters of ``other`` alone."""
        both = [steps for steps in (self.sure, other.sure) if steps is not None]
        return Form(
            {**self.terms, **other.terms},
            conjunction([self.holds, other.holds]),
            {**self.rises, **other.rises},
            min(both, default=None),
        )


def steps_within(system: TransitionSystem, rises: Mapping[str, Rise]) -> int | None:
    """The number of steps after which no counter is greater than ``rises`` say; None: it never is."""
    starts = {var.name: var.type.value(var.init.constant_value()) for var in system.state if var.init is not None}
    return min((rise.steps(starts[name]) for name, rise in rises.items()), default=None)


def differences(
    system: TransitionSystem, seen: Sequence[FNode], prover: Prover, least: int | None = None
) -> Iterator[Form]:
    """A form for each group of counters of ``system``, the ones before it put in, that the solver proves.

    ``least`` None: one that holds of runs of any length, both ways; else one that may hold up to some number of steps,
    at least so many. ``seen`` are the framed formulas through which the system is seen.
    """
    from bmc.invariants.normal_form import in_normal_form  # it makes forms of several kinds, of which this is one

    for names in groups(system, seen):
        members = [var for var in system.state if var.name in names]
        for group in with_references(system, members, seen):
            search = _Search(system, group, seen, prover)
            form = search.exact() if least is None else search.bounded(least)
            if form is not None:
                system = in_normal_form(system, form.terms)
                yield form
                break


@dataclass(frozen=True)
class _Search:
    """Forms of one group, each proved by small questions first.

    A comparison that reads the group and is in each state what it is in the image is one Boolean input for the question
    about a whole step, and not two comparisons: what else differs are the sums that counters get.
    """

    system: TransitionSystem
    group: Group
    seen: Sequence[FNode]
    prover: Prover

    def exact(self) -> Form | None:
        """A form of all states, or of those whose differences lie in some span for ever."""
        form = Form(self.group.terms(0, {}))
        if self._alike(form.terms, TRUE()):
            return form
        if self.group.base <= 0:
            return None
        spans = self._spans()
        if spans is None:
            return None
        form = Form(self.group.terms(self.group.base, {}), spans)
        return form if self._kept(spans) and self._alike(form.terms, spans) else None

    def bounded(self, least: int) -> Form | None:
        """A form of the states before any wrap, with times that were taken long ago held for alike where they are.

        None too where that is said of less than ``least`` steps.
        """
        group = self.group
        if group.base <= 0 or group.growth.steps(start_of(group.reference)) < least:
            return None
        before = conjunction([group.ordered, at_most(group.reference, group.base)])
        if not self._kept(group.ordered, group.growth) or not self._alike(group.terms(group.base, {}), before):
            return None
        terms = group.terms(group.base, self._caps(before))
        sure = group.growth.steps(start_of(group.reference))
        for_ever = self._kept(group.ordered) and self._alike(terms, group.ordered, False)
        return Form(terms, group.ordered, {} if for_ever else {group.reference.name: group.growth}, sure)

    def _alike(self, terms: Terms, given: FNode, both: bool = True) -> bool:
        alike = _Comparisons(self, terms, given).alike
        system, seen = self._with_inputs(alike)
        return against(system, terms, seen, self.prover, Among(_meant(alike, given), both)) is Status.UNSAT

    def _with_inputs(self, alike: Mapping[FNode, FNode]) -> tuple[TransitionSystem, Sequence[FNode]]:
        """The system, and what is seen of it, with inputs in place of the comparisons ``alike``."""
        if not alike:
            return self.system, self.seen
        nexts = with_terms([var.next for var in self.system.state], alike)
        allowed, defined = with_terms([self.system.input_constraint, self.system.defined], alike)
        state = tuple(replace(var, next=term) for var, term in zip(self.system.state, nexts, strict=True))
        inputs = tuple(InputVariable(symbol.symbol_name(), BOOLEAN) for symbol in alike.values())
        made = replace(self.system, state=state, input_constraint=allowed, defined=defined)
        first = {at(term, 0): at(symbol, 0) for term, symbol in alike.items()}
        return replace(made, inputs=(*made.inputs, *inputs)), with_terms(self.seen, first)

    def _spans(self) -> FNode | None:
        """The spans of all differences on some random runs, None where one may be anything."""
        batch = Batch(self.system, self.seen)
        runs = batch.draw(batch.initial(), RUNS, STEPS)
        kind, reference = self.group.reference.type, self.group.reference
        size, parts = 1 << kind.bits, []
        for var in self.group.others:
            apart = set()
            for number in range(RUNS):
                for step in range(int(runs.valid[number]) + 1):
                    apart.add(int(runs.states[var.name][step, number]) - int(runs.states[reference.name][step, number]))
            signed = [(value + size // 2) % size - size // 2 for value in apart]
            low, high = min(signed), max(signed)
            if high - low >= size // 2:
                return None
            moved = var.symbol.BVSub(reference.symbol)
            if low == high:
                parts.append(equal(moved, BV(low % size, kind.bits)))
            else:
                parts.append(BVULE(moved.BVSub(BV(low % size, kind.bits)), BV(high - low, kind.bits)))
        return conjunction(parts)

    def _kept(self, holds: FNode, rise: Rise | None = None) -> bool:
        """Whether ``holds`` is true at the start, and after each step from a state in which it is; with ``rise`` from
        one in which the reference is not above it, and then it rises as that says."""
        system, reference = self.system, self.group.reference
        starts = {var.symbol: var.init for var in system.state if var.init is not None}
        if not with_terms([holds], starts)[0].simplify().is_true():
            return False
        nexts = {var.symbol: var.next for var in system.state}
        after = with_terms([holds], nexts)[0]
        given = [holds, system.input_constraint, system.defined]
        if rise is not None:
            given.append(at_most(reference, rise.most))
            higher = reference.symbol.BVAdd(reference.type.constant(rise.by))
            after = And(after, below(reference, reference.next, higher))
        variables = [(var.name, var.type) for part in (system.state, system.inputs) for var in part]
        question = conjunction([*given, Not(after)])
        return some_values(system, variables, question, self.prover) is Status.UNSAT

    def _caps(self, given: FNode) -> dict[str, int]:
        """For each counter how far it may lie behind the reference before that makes no difference any more."""
        caps = {var.name: 0 for var in self.group.others}
        for _ in range(ROUNDS * len(caps)):
            if not caps:
                break
            terms = self.group.terms(self.group.base, caps)
            comparisons = _Comparisons(self, terms, given)
            if comparisons.unlike is not None:
                state, term = comparisons.unlike
                self._raise(caps, _Cut(self.group, caps, state, compile_formulas([term])))
                continue
            system, seen = self._with_inputs(comparisons.alike)
            answer = against(system, terms, seen, self.prover, Among(_meant(comparisons.alike, given)))
            if answer is Status.UNSAT:
                return caps
            if isinstance(answer, Status):
                break
            self._raise(caps, _Cut(self.group, caps, answer[0], _told_by(Look(system, seen), terms, answer)))
        return {}

    def _raise(self, caps: dict[str, int], cut: _Cut) -> None:
        """Let ``caps`` tell apart what ``cut`` does; without the counters of which that says nothing."""
        behind = [name for name in caps if cut.lag(name) > caps[name]]
        guilty = [name for name in behind if cut.differs(name)]
        for name in guilty or behind or [*caps]:
            higher = cut.border(name) if guilty else None
            if higher is None or higher <= caps[name] or self.group.base - higher <= self.group.low:
                del caps[name]
            else:
                caps[name] = higher


def _meant(alike: Mapping[FNode, FNode], given: FNode) -> FNode:
    """What is ``given``, and that the inputs in place of comparisons are the truth of these in the state."""
    return conjunction([given, *(Iff(symbol, term) for term, symbol in alike.items())])


def _told_by(look: Look, terms: Terms, step: Step) -> Callable[[Valuation], object]:
    """What is seen of states under the inputs of ``step``, the states after it as images by ``terms``."""
    images, (_, inputs, later) = compile_formulas([*terms.values()]), step

    def image(state: Valuation) -> Valuation:
        return {**state, **dict(zip(terms, images(state), strict=True))}

    return lambda state: look.told(state, inputs, later, image)


class _Comparisons:
    """The comparisons that read a group, but for others in them: those that are proved to be alike in states of which
    ``given`` is true and in their images by ``terms``, ``alike``, have an input each. ``unlike`` is a state that speaks
    against the first of which that is not so, with that, if one was found."""

    def __init__(self, search: _Search, terms: Terms, given: FNode) -> None:
        self.alike: dict[FNode, FNode] = {}
        self.unlike: tuple[Valuation, FNode] | None = None
        group, system = search.group, search.system
        counters = [group.reference, *group.others]
        normal = {var.symbol: terms[var.name] for var in counters}
        reads = {*normal}
        variables = [(var.name, var.type) for part in (system.state, system.inputs) for var in part]
        formulas = [*(v.next for v in system.state), system.input_constraint, system.defined, *both_steps(search.seen)]
        for term in post_order(formulas):
            if not any(arg in reads for arg in term.args()):
                continue
            if term.node_type() not in COMPARISONS:
                if not (term.get_type().is_bool_type() and not term.is_ite()):
                    reads.add(term)
                continue
            (there,) = with_terms([term], normal)
            question = conjunction([given, Not(Iff(term, there))])
            found = some_values(system, variables, question, search.prover)
            if found is Status.UNSAT:
                self.alike[term] = BOOLEAN.symbol(f"{COMPARED}{len(self.alike)}")
            elif not isinstance(found, Status) and self.unlike is None:
                self.unlike = found, term


@dataclass(frozen=True)
class _Cut:
    """A ``state``, and what is ``told`` of it and of those in which a counter lies elsewhere."""

    group: Group
    caps: Mapping[str, int]
    state: Valuation
    told: Callable[[Valuation], object]

    def lag(self, name: str) -> int:
        """How far the counter lies behind the reference; -1 where it lies before it."""
        kind = self.group.reference.type
        lag = kind.value(self.state[self.group.reference.name]) - kind.value(self.state[name])
        return lag if lag > 0 else -1

    def differs(self, name: str) -> bool:
        """Whether it makes a difference that the counter lies as far behind as it does, and not as far as its cap."""
        return self._told(name, self.lag(name)) != self._told(name, self.caps[name])

    def border(self, name: str) -> int:
        """The least distance that is like that of the state, as halving finds it."""
        far, near = self.lag(name), self.caps[name]
        told = self._told(name, far)
        while far - near > 1:
            middle = (near + far) // 2
            near, far = (near, middle) if self._told(name, middle) == told else (middle, far)
        return far

    def _told(self, name: str, lag: int) -> object:
        """What is told if the counter lies ``lag`` behind the reference."""
        size = 1 << self.group.reference.type.bits
        return self.told({**self.state, name: (self.state[self.group.reference.name] - lag) % size})
