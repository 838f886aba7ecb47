"""An independent check of a chain and of the proof of its bound, from the text of ``chain.json``.

Nothing is believed but the C source as it is now, the goals and the settings that the file names. Cheap checks come
first, and each is told as soon as it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bmc.native.cache import built_anew
from chaincover.claims import of_result
from chaincover.formats.document import PROVED, Document, RulingsClaim
from chaincover.subject import Subject
from chaincover.verification import claims, long_tests, requirements
from chaincover.verification.checks import PART, Checks, Listener
from chaincover.verification.confirmation import library_values, no_original
from chaincover.verification.constraints import constraints
from chaincover.verification.fields import fields, findings, made_again, project
from chaincover.verification.invariants import (
    of_states,
)
from chaincover.verification.limits import FIRST_ASKED, Clock, Limits
from chaincover.verification.report import OPEN, WRONG, Line, Verification
from chaincover.verification.setting import Setting, Statement
from chaincover.verification.values import Values, bound


class _Lines:
    """The checks that are done, each told at once; what a limit leaves open of a fact, and all after it, when it is
    known whether a claim needs it."""

    def __init__(self, listener: Listener) -> None:
        self.told: list[Line] = []
        self._waiting: list[Line] = []
        self._listener = listener

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self.settle(needless=False)

    @property
    def every(self) -> Sequence[Line]:
        """All of them so far."""
        return [*self.told, *self._waiting]

    def each(self, lines: Iterable[Line | None]) -> None:
        """Checks are done one after the other."""
        for line in lines:
            self.done(line)

    def done(self, line: Line | None) -> None:
        """A check is done."""
        if line is None:
            return
        self._waiting.append(line)
        if not any(each.unfinished for each in self._waiting):
            self.settle(needless=False)

    def settle(self, needless: bool) -> None:
        """Tell all of them; what is open of facts is ``needless`` for what the file claims."""
        while self._waiting:
            line = self._waiting.pop(0)
            line = line.needless() if needless and line.unfinished else line
            self.told.append(line)
            self._listener.line(line)


def statement_of(subject: Subject, document: Document) -> Statement:
    """What ``document`` says of runs of ``controller``, where functions of the C library have any values in bounds.

    No original takes steps with other values than its own.
    """
    problem = subject.above
    return Statement(
        Setting(problem.system, problem.goals, problem.final, document.settings.overlap),
        subject.model.original if subject.library is None else no_original,
        document.certificate,
        of_result(document.said),
        None if document.chain is None else document.credited,
        document.bounds.lower,
        [text.removeprefix(PROVED) for text in document.claims if text.startswith(PROVED)],
        long_tests.long_goals(document),
    )


@built_anew()
def verify(
    subject: Subject, document: Document, limits: Limits | None = None, listener: Listener | None = None
) -> Verification:
    """Check every claim of ``document`` on ``controller``, whose goals and final condition are those it names.

    InputRefused if its chain does not fit the program; CheckDisagreed if solver and simulation disagree.
    """
    listener = listener or Listener()
    proof, chain = document.certificate, document.chain
    states = document.bounds.lower > 0 if proof is None else of_states(proof)
    checks = Checks(statement_of(subject, document), Clock(limits or Limits()), listener, states)
    with _Lines(listener) as lines:
        done = lines.done
        lines.each(library_values(subject))
        lines.each(_without_proof(subject.below, document, checks))
        lines.each(checks.of_setting())
        if proof is not None and set(proof.goals) <= set(checks.setting.names):
            lines.each(checks.proof_lines(proof))
        if checks.told_invariants:
            done(checks.told())
        all_runs = checks.all_runs()
        said = {line.check: line.verdict for line in (*lines.every, all_runs)}
        claimed = [bound(document, proof, checks.setting, said)]
        done(claimed[0])
        if chain is not None or document.bounds.lower:
            done(all_runs)
        if claims.uncovered(document) or checks.about_runs:
            claimed.append(checks.uncovered())
            done(claimed[-1])
        if long_tests.long_goals(document):
            beyond = long_tests.line(checks.setting, document, checks.jumps)
            claimed += [] if beyond is None else [beyond]
            done(beyond)
        lines.settle(needless=all(line.verdict not in (OPEN, WRONG) for line in claimed))
        lines.each(proved_requirements(subject, document.requirements, checks.clock, listener))
    return Verification(str(document.place), tuple(lines.told))


def _without_proof(subject: Subject, document: Document, checks: Checks) -> Iterator[Line | None]:
    """What is looked at without a proof: file, project, chain and tests, and runs that violate requirements."""
    chain = document.chain
    credited = Setting(subject.system, subject.goals, subject.final, document.settings.overlap)
    yield claims.sources(subject, document)
    yield claims.properties(subject, document)
    stimulus = None if chain is None else claims.stimulus_of(subject, document)
    values = Values(credited, document, stimulus, requirements.rulings_again(subject, document))
    yield fields(document, made_again(subject, document, values), values)
    yield project(subject, document)
    yield constraints(subject.system, subject.rules, checks.clock)
    if chain is not None and stimulus is not None:
        yield claims.chain(subject, document, stimulus, credited)
        yield findings(values)
        yield claims.open_starts(credited, stimulus, chain.relies_on_starts, checks.clock)
    yield claims.tests(subject, document)
    yield from requirements.without_proof(subject, document)


def proved_requirements(
    subject: Subject, claim: RulingsClaim | None, clock: Clock, listener: Listener
) -> Iterator[Line]:
    """Prove again which requirements are never violated, and which runs that violate one are the shortest.

    Of those that the file leaves undecided find out what little effort shows.
    """
    if claim is None:
        return
    told = Listener(lambda text: listener.progress(f"requirements: {text}"))
    limits = clock.limits
    few = replace(limits, question=limits.question * FIRST_ASKED, explored=limits.explored // PART)
    little = replace(clock, limits=few)
    statement = requirements.proved_subject(subject, claim)
    if statement is not None:
        proof = claim.certificate
        states = proof is not None and proof.exhausted > 0
        asked = clock if states or (proof is not None and proof.normal_form) else little
        checks = Checks(statement, asked, told, states)
        yield requirements.proved(statement.claims, checks.paths_and_runs())
    left = requirements.undecided_subject(subject, claim)
    if left is not None:
        yield from requirements.decided(subject, Checks(left, little, told).each())
