"""What a result claims that no run does, as questions for model checkers; and what it claims beside that.

Each fact of a certificate (``chaincover.certificate``) that says *no run does this within n steps*, or *ever*, is a
question. Facts about runs that begin anywhere rest on invariants. Where these are formulas, runs begin in any state of
which they are true, and the claim is about few frames. Where one is a list of reachable states, or where the facts
speak of a normal form of states, runs begin in init, and the claim is about runs of any length: it says the same of
reachable states. Everything else is left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location, counted, listed
from bmc.formulas.unroll import with_terms
from bmc.records import dataclass
from bmc.system.transition import conjunction
from chaincover.certificate import Certificate, NoRun, PathFact, formula_of, monitor_texts, term_of
from chaincover.chain import NEVER_VIOLATED
from chaincover.claims import EXCLUDES, LENGTH, of_result, of_rulings
from chaincover.claims import Claim as Said
from chaincover.exporters.protocol import Question, Statement
from chaincover.exporters.questions import chain_question, invariant_question, path_question
from chaincover.formats.document import PROVED, Document
from chaincover.problem import Problem
from chaincover.weights import INIT
from properties.goal import violation

INVARIANT, FACT = "invariant", "fact"
"""Kinds of claims that are none about what no run does."""
FROM_ANYWHERE = "from any state in which the invariants hold"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A claim of a certain ``kind`` that is no question, and why it is none."""

    kind: str
    text: str
    reason: str


Claim = Question | LeftOut


def claims(problem: Problem, document: Document) -> Iterator[Claim]:
    """Every claim of ``document`` about runs of ``problem``, whose goals and final condition are those it names."""
    problem = replace(problem, overlap=document.settings.overlap)
    told = of_result(document.said)
    if document.certificate is not None:
        yield from _certified(problem, document, document.certificate, told)
        told = tuple(claim for claim in told if claim.kind == EXCLUDES)
    yield from (_of_runs(problem, claim) for claim in told)
    ruled = document.requirements
    if ruled is not None and ruled.certificate is not None:
        never = {r.goal for r in ruled.rulings if r.ruling == NEVER_VIOLATED}
        yield from _requirements(problem, ruled.certificate, never, document.place)


def _certified(problem: Problem, document: Document, proof: Certificate, told: Sequence[Said]) -> Iterator[Claim]:
    """Those claims of ``document`` that rest on its certificate ``proof``; ``told`` are all that its result makes."""
    facts = _Facts.of(problem if proof.monitors else replace(problem, overlap=proof.overlap), proof, document.place)
    for claim in told:
        if isinstance(claim.says, PathFact):
            yield facts.path(claim, claim.says)
        elif claim.kind != EXCLUDES:
            yield _of_runs(facts.whole if claim.kind == LENGTH else problem, claim)
    yield from facts.invariants([c.removeprefix(PROVED) for c in document.claims if c.startswith(PROVED)])
    yield from _beside(proof)


@dataclass(frozen=True)
class _Facts:
    """The facts of one certificate ``proof``.

    ``whole`` has the goals as they are: a run covers them exactly where it covers those of one step (ADR 23), so
    questions about what one run covers are asked of these. ``problem`` has those that the certificate speaks of:
    distances are between these.
    """

    whole: Problem
    problem: Problem
    proof: Certificate

    @staticmethod
    def of(whole: Problem, proof: Certificate, place: Path) -> _Facts:
        """The facts of ``proof`` in the file ``place``. InputRefused if its monitors are not those of its goals."""
        problem, made = whole.in_one_step(proof.monitors)
        if (monitor_texts(made) if made is not None else {}) != proof.monitors:
            text = "the certificate's monitors are not those of the goals"
            raise InputRefused(text, Location(str(place)), "make the result again: chaincover generate")
        return _Facts(whole, problem, proof)

    def path(self, claim: Said, fact: PathFact) -> Claim:
        """The least length of one path, ``fact``."""
        text = claim.text
        if any(map(self.whole.earlier, fact.path)):
            text += " (a goal counts from its last step on)"
        unknown = self._no_path(fact.path)
        if unknown:
            return LeftOut(claim.kind, text, unknown)
        if fact.at_least <= self._trivial(fact.path):
            return LeftOut(claim.kind, text, "this is so by definition")
        validity = self.proof.validity
        most = None if validity is None else validity.steps
        if most is not None and (fact.path[0] != INIT or fact.at_least > most):
            return LeftOut(
                claim.kind, text, f"it speaks of normal forms of states, in runs of up to {counted(most, 'step')}"
            )
        known = None if fact.path[0] == INIT else self._known()
        anywhere = "" if fact.path[0] == INIT else ", in all runs from init" if known is None else f", {FROM_ANYWHERE}"
        return path_question(self.problem, fact, Statement(claim.kind, claim.title, f"{text}{anywhere}"), known)

    def _no_path(self, path: Sequence[str]) -> str:
        """Why ``path`` is none of goals, each once, init before and the end behind them where they are; '' if it is."""
        inner = path[path[:1] == (INIT,) : len(path) - (path[-1:] == (self.problem.end,))]
        if len(path) < 2 or len({*inner}) < len(inner):
            return "this is no path of goals, each once"
        long = [name for name in inner if self.problem.earlier(name)]
        if long or (self.problem.forbid and any(self.problem.over(name, 0) for name in inner)):
            return "the certificate has no monitors" + (f" of {listed(long)}" if long else "")
        return _unknown(self.problem, inner)

    def _trivial(self, path: Sequence[str]) -> int:
        """The steps that a path takes at least because its goals take steps themselves."""
        return max(self.problem.over(node, 0) for node in path) if path[-1] == self.problem.end else 0

    def invariants(self, told: Sequence[str]) -> Iterator[Claim]:
        """The invariants on which the certificate rests, and those of the program that are ``told`` to be proved."""
        for number, name in enumerate(dict.fromkeys([*self.proof.invariants, *told])):
            formula, text = self._formula(name), f"in every reachable state: {name}"
            if formula is None:
                yield LeftOut(INVARIANT, text, "it has no formula: verify enumerates the states that it counts")
                continue
            if self.proof.normal_form and name in self.proof.invariants:
                form = self._normal_form()
                if form is None:
                    yield LeftOut(INVARIANT, text, "the normal form of states that it speaks of cannot be read")
                    continue
                (formula,) = with_terms([formula], form)
                text = f"in the normal form of {text.removeprefix('in ')}"
            yield invariant_question(self.problem, Statement(INVARIANT, str(number), text), formula)

    def _known(self) -> FNode | None:
        """What is true of every reachable state, as far as facts rest on it; None where that is no formula."""
        formulas = [self._formula(name) for name in self.proof.invariants]
        if self.proof.normal_form:
            return None
        return None if None in formulas else conjunction(each for each in formulas if each is not None)

    def _formula(self, name: str) -> FNode | None:
        """The formula of an invariant over the state; None if it has none."""
        system = self.problem.system
        if name in self.proof.formulas:
            return formula_of(self.proof.formulas[name], {var.name: var for var in system.state})
        return next((c.formula for c in system.invariants if c.name == name), None)

    def _normal_form(self) -> dict[FNode, FNode] | None:
        """What the variables are in the normal form of a state; None where it cannot be read."""
        known = {var.name: var for var in self.problem.system.state}
        found = {}
        for name, text in self.proof.normal_form.items():
            term = term_of(known[name], text, known) if name in known else None
            if term is None:
                return None
            found[known[name].symbol] = term
        return found


def _unknown(problem: Problem, names: Sequence[str]) -> str:
    strange = [name for name in names if name not in problem.by_name]
    return f"the program has no goal {listed(strange)}" if strange else ""


def _of_runs(problem: Problem, claim: Said) -> Claim:
    """The question of ``claim``, which is about what one run covers, of the goals of ``problem``."""
    says = claim.says
    if not isinstance(says, NoRun):
        reason = "it is claimed of chains with bounded weights only, or without a chain"
        return LeftOut(claim.kind, claim.text, reason)
    unknown = _unknown(problem, says.goals)
    if unknown:
        return LeftOut(claim.kind, claim.text, unknown)
    asked = problem if says.to_end else replace(problem, final=None)
    statement = Statement(claim.kind, claim.title, claim.text)
    return chain_question(asked.of(says.goals), statement, says.before, says.least)


def _requirements(problem: Problem, proof: Certificate, never: set[str], place: Path) -> Iterator[Claim]:
    """That requirements are never violated, and that no run violates another one sooner than is told."""
    inputs = {var.name for var in problem.system.inputs}
    judged = [goal for goal in problem.goals if goal.consequent is not None]
    violations = tuple(violation(goal, inputs) for goal in judged)
    facts = _Facts.of(Problem(problem.system, violations, None, "allow"), proof, place)
    for claim in of_rulings([goal.name for goal in judged if goal.name in never], proof):
        says = claim.says
        yield facts.path(claim, says) if isinstance(says, PathFact) else _of_runs(facts.whole, claim)


def _beside(proof: Certificate) -> Iterator[LeftOut]:
    """What a certificate says that is no statement about a bad state."""
    if proof.order_bound:
        text = f"no order of the goals takes fewer than {counted(proof.order_bound, 'step')}"
        yield LeftOut(FACT, text, "it follows from edges and sub-paths by arithmetic over orders")
    if proof.prices is not None:
        text = f"the prices of goals and cuts give the bound {proof.prices.bound}"
        yield LeftOut(FACT, text, "prices are checked on every step between states, not by a bad state")
    if proof.acceleration is not None:
        text = "counters may be skipped over the values of a cell"
        yield LeftOut(FACT, text, "it compares two runs; the bound that it gives is a claim of its own")
    if proof.normal_form:
        text = f"no step, goal or end tells a state from its normal form ({listed([*proof.normal_form])})"
        yield LeftOut(FACT, text, "it compares two runs")
    if proof.exhausted:
        text = f"all runs shorter than {counted(proof.lower, 'step')} through {proof.exhausted} states were searched"
        yield LeftOut(FACT, text, "what the search showed is the claim on the length of chains")
