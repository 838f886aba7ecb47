"""Whether requirements can fail, as a file says: runs that violate them are replayed; that none does is proved again.

A violation is a goal like others: what is claimed of it is checked as it is of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bmc.errors import Location, counted
from bmc.formulas.unroll import at, framed, with_terms
from bmc.system.original import Original
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, symbols_of
from chaincover.certificate import Certificate, PathFact
from chaincover.chain import CAN_FAIL, NEVER_VIOLATED, RULINGS, UNDECIDED, Ruling
from chaincover.claims import SHORTEST, Claim, of_rulings
from chaincover.formats.chain_file import Stimulus, read_test
from chaincover.formats.document import Document, RulingClaim, RulingsClaim, Summary
from chaincover.replaying.judge import explained
from chaincover.result import Requirements
from chaincover.subject import Subject
from chaincover.target.judge import JudgedRun
from chaincover.target.original import replay_violation
from chaincover.verification.claims import replayed
from chaincover.verification.report import FINDING, HOLDS, NOTE, OPEN, UNCLAIMED, WRONG, Line, Verdict, limited, worst
from chaincover.verification.setting import Setting, Statement
from chaincover.weights import END, INIT
from properties.goal import Goal, need_monitors, violation, violation_name
from properties.monitor import Monitor

NOTHING = Certificate((), END, "allow")
"""The certificate of claims that rest on nothing."""

CAN_FAIL_LINE, VIOLATIONS, NEVER, UNTOLD = "can fail", "violations", "never violated", "undecided"


def rulings_again(subject: Subject, said: Document | Summary) -> Requirements:
    """What is ``said`` as it should be; nothing where nothing has to be. InputRefused where a test is damaged."""
    claim, judged, where = said.requirements, _judged(subject), Location(str(said.place))
    if claim is None and (_part(said) or _unfinished(said)):
        return Requirements()
    claim = claim or RulingsClaim((), None)
    given, proof = {ruling.goal: ruling for ruling in claim.rulings}, claim.certificate
    rulings = tuple(_again(subject, goal, given.get(goal.name), where) for goal in judged)
    return Requirements(rulings, None if proof is None else _needed(subject, claim, proof))


def _part(said: Document | Summary) -> bool:
    """Whether this is one of several chains: of requirements their summary speaks."""
    return isinstance(said, Document) and (said.several or bool(re.fullmatch(r"chain-\d+\.json", said.place.name)))


def _unfinished(said: Document | Summary) -> bool:
    """Whether this is the best answer before the search ended: requirements come last."""
    return said.data.get("finished") is False


def untold(subject: Subject, said: Document | Summary) -> Line | None:
    """That nothing is said of requirements, where that may be so; None where they are told, or there are none."""
    judged = _judged(subject)
    if said.requirements is not None or not judged or (isinstance(said, Document) and said.several):
        return None
    text = f"of {counted(len(judged), 'requirement')} the file does not say whether it can fail"
    if _part(said):
        return Line(CAN_FAIL_LINE, NOTE, f"{text}: the summary of all chains does")
    return Line(CAN_FAIL_LINE, OPEN, f"{text}: the search had not ended") if _unfinished(said) else None


def without_proof(subject: Subject, said: Document | Summary) -> Iterator[Line | None]:
    """What is said of requirements but for proofs: that it is said, runs that violate them, and which can fail."""
    yield untold(subject, said)
    if said.requirements is not None:
        yield violations(subject, said.requirements, Location(str(said.place)))
        yield found(subject, said.requirements)


def _judged(subject: Subject) -> list[Goal]:
    return [goal for goal in subject.goals if goal.consequent is not None]


def _violations(subject: Subject) -> dict[str, Goal]:
    """For each requirement its violation as a goal."""
    inputs = {var.name for var in subject.system.inputs}
    return {goal.name: violation(goal, inputs) for goal in _judged(subject)}


def _again(subject: Subject, goal: Goal, claim: RulingClaim | None, where: Location) -> Ruling:
    """The ruling on ``goal`` as it should be: one that can be, and with a violation exactly where its test is one."""
    if claim is None:
        return Ruling(goal.name, "missing", "")
    status = claim.ruling if claim.ruling in RULINGS else f"one of {', '.join(RULINGS)}"
    if claim.test is None or status != CAN_FAIL:
        odd = claim.test is not None or status == CAN_FAIL
        return Ruling(goal.name, f"{CAN_FAIL} with a test, or another one without" if odd else status, claim.detail)
    test, simulator = read_test(claim.test, goal.name, subject.system, where), Simulator(subject.system)
    run = simulator.run(simulator.initial(test.initial), test.inputs)
    violated = violation(goal, {var.name for var in subject.system.inputs})
    step = run.length - violated.length
    if not Monitor([violated]).holds(run, violated.name, step):
        return Ruling(goal.name, "not violated by its test", claim.detail)
    failure = replace(explained(subject.problem, goal.name, run, step), shortest=bool(claim.shortest))
    return Ruling(goal.name, status, claim.detail, failure)


def _needed(subject: Subject, claim: RulingsClaim, proof: Certificate) -> Certificate:
    """The certificate of what is claimed, with what ``proof`` says that it rests on."""
    earlier = {name: violated.earlier for name, violated in _violations(subject).items()}
    return Certificate(
        goals=(),
        end=END,
        overlap="allow",
        invariants=proof.invariants,
        formulas=proof.formulas,
        normal_form=proof.normal_form,
        validity=proof.validity,
        edges=tuple(
            PathFact((INIT, violation_name(each.goal)), each.step + earlier.get(each.goal, 0))
            for each in claim.rulings
            if each.shortest and each.step is not None
        ),
        monitors=proof.monitors,
        exhausted=proof.exhausted,
        unreachable=tuple(violation_name(r.goal) for r in claim.rulings if r.ruling == NEVER_VIOLATED),
        acceleration=proof.acceleration,
    )


def violations(subject: Subject, claim: RulingsClaim, where: Location) -> Line | None:
    """Replay each run that is said to violate a property on the compiled original; None where there is none."""
    tests = {ruling.goal: ruling.test for ruling in claim.rulings if ruling.test is not None}
    violated = _violations(subject)
    strange = tuple(f"{name} is no property with a consequent" for name in tests if name not in violated)
    if not tests or strange:
        return Line(VIOLATIONS, WRONG, "not replayed", strange) if strange else None

    def played(name: str, stimulus: Stimulus, built: Original | None) -> JudgedRun:
        begin = len(stimulus.inputs) - violated[name].over(0)
        return replay_violation(subject, stimulus, name, begin, built)

    stimuli = {name: read_test(test, name, subject.system, where) for name, test in tests.items()}
    return replayed((VIOLATIONS, "run"), stimuli, subject, played)


def found(subject: Subject, claim: RulingsClaim) -> Line | None:
    """The requirements that can fail: findings about the program, told by what is checked of them."""
    given = {ruling.goal: ruling for ruling in claim.rulings if ruling.ruling == CAN_FAIL}
    told = [f"{_named(goal)}: {_told(given[goal.name])}" for goal in _judged(subject) if goal.name in given]
    if not given:
        return None
    return Line(CAN_FAIL_LINE, FINDING, f"{counted(len(given), 'requirement')} can fail", limited(told))


def _named(goal: Goal) -> str:
    return f"{goal.name} ({goal.requirement})" if goal.requirement else goal.name


def _told(ruling: RulingClaim) -> str:
    """The run that violates it, in words."""
    steps = 0 if ruling.test is None else len(ruling.test["inputs"])
    return f"from step {ruling.step} of a {'shortest ' if ruling.shortest else ''}run of {counted(steps, 'step')}"


def proved_subject(subject: Subject, claim: RulingsClaim) -> Statement | None:
    """What ``claim`` says is proved; None where that is nothing."""
    never = {ruling.goal for ruling in claim.rulings if ruling.ruling == NEVER_VIOLATED}
    shortest = {ruling.goal for ruling in claim.rulings if ruling.shortest}
    return _subject(subject, (never, shortest), claim.certificate or _needed(subject, claim, NOTHING))


def undecided_subject(subject: Subject, claim: RulingsClaim) -> Statement | None:
    """What ``claim`` leaves undecided, as if it said that no run violates it; None where that is nothing."""
    left = {ruling.goal for ruling in claim.rulings if ruling.ruling == UNDECIDED}
    return _subject(subject, (left, set()), NOTHING)


def _subject(subject: Subject, claimed: tuple[set[str], set[str]], proof: Certificate) -> Statement | None:
    """That no run violates the first of the requirements ``claimed``, and what ``proof`` says of the steps to a
    violation of them and of the others; violations are the goals. None without any."""
    system, judged = subject.system, _judged(subject)
    known = [goal.name for goal in judged if goal.name in claimed[0] | claimed[1]]
    names = {violation_name(name) for name in known}
    goals = tuple(
        goal if need_monitors([goal], forbid=False) else _in_terms(goal, system)
        for goal in _violations(subject).values()
        if goal.name in names or goal.name in proof.monitors
    )
    proof = replace(
        proof,
        unreachable=tuple(name for name in proof.unreachable if name in names),
        edges=tuple(edge for edge in proof.edges if edge.path[-1] in names),
    )
    listed = [*of_rulings([name for name in known if name in claimed[0]], proof)]
    return Statement(Setting(system, goals, None), subject.model.original, proof, listed) if known else None


def decided(subject: Subject, found: Mapping[str, Verdict]) -> Iterator[Line]:
    """What was ``found`` of the violations that a file leaves undecided: where a run is one, that is a finding."""
    names = {goal.name: _named(goal) for goal in _judged(subject)}
    for verdict, kind, said in (
        (HOLDS, HOLDS, "that the file leaves undecided: never violated, as was found out now"),
        (WRONG, FINDING, "that the file leaves undecided can fail, as was found out now"),
        (OPEN, OPEN, "the file has neither a run that violates it nor a proof that none does, and none was found now"),
    ):
        told = [f"{names[name]}: {why}" for name, (each, why) in found.items() if each == verdict]
        if told:
            number = counted(len(told), "requirement")
            yield Line(UNTOLD, kind, f"{'of ' if kind == OPEN else ''}{number} {said}", limited(told))


def _in_terms(goal: Goal, system: TransitionSystem) -> Goal:
    """``goal``, of one step at most, with what the step computes for a variable in place of its value after it."""
    following = {framed(var.symbol, 1): var.next for var in system.state}
    terms = {symbol: at(following[symbol], 0) for symbol in symbols_of(goal.antecedent) if symbol in following}
    return replace(goal, antecedent=with_terms([goal.antecedent], terms)[0])


def proved(claims: Sequence[Claim], lines: Iterator[Line]) -> Line:
    """One line of the ``lines`` about ``claims`` that are proved again."""
    checked = [line for line in lines if line.verdict != UNCLAIMED]
    verdict = worst(line.verdict for line in checked)
    least = sum(claim.kind == SHORTEST for claim in claims)
    never = len(claims) - least
    said = [f"{counted(never, 'requirement')} never violated"] if never else []
    said += [f"{counted(least, 'shortest run')}"] if least else []
    against = [line for line in checked if line.verdict in (WRONG, OPEN)]
    details = [f"{line.check}: {line.brief or line.text}" for line in against]
    details += [text for line in against for text in line.details]
    again = {HOLDS: "proved again", OPEN: "not all proved again", WRONG: "not so"}[verdict]
    return Line(NEVER, verdict, f"{' and '.join(said)}: {again}", tuple(details))
