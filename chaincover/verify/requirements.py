"""Whether requirements can fail, as a file says: runs that violate them are replayed; that none does is proved again.

A violation is a goal like others: what is claimed of it is checked as it is of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from bmc.errors import CheckDisagreed, LimitReached, Location, counted
from bmc.formulas.unroll import at, unframed, with_terms
from bmc.native.build import why_no_compiler
from bmc.native.original import NoCompiler, compiled
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, symbols_of
from chaincover import certificate
from chaincover.certificate import Certificate, EdgeFact
from chaincover.chain import CAN_FAIL, NEVER_VIOLATED, RULINGS, UNDECIDED, Ruling
from chaincover.claims import SHORTEST, Claim, of_rulings
from chaincover.formats.chain_file import read_test, ruling_record
from chaincover.formats.document import Document, RulingClaim, RulingsClaim, Summary
from chaincover.project.load import Controller
from chaincover.replay.judge import explained
from chaincover.replay.original import replay_violation
from chaincover.verify.report import FINDING, HOLDS, NOTE, OPEN, UNCLAIMED, WRONG, Line, Verdict, limited
from chaincover.verify.setting import Setting, Subject
from chaincover.weights import END, INIT
from properties.goal import Goal, violation, violation_name
from properties.monitor import Monitor

NOTHING = Certificate((), END, "allow", (), (), (), 0, (0, 0), 0, 0)
"""The certificate of claims that rest on nothing."""

CAN_FAIL_LINE, VIOLATIONS, NEVER, UNTOLD = "can fail", "violations", "never violated", "undecided"


def expected_rulings(controller: Controller, said: Document | Summary, where: Location) -> dict[str, Any] | None:
    """The record of what is ``said`` as it should be; None where nothing has to be. InputRefused where a test is
    damaged."""
    claim, judged = said.requirements, _judged(controller)
    if claim is None and (not judged or _part(said) or _unfinished(said)):
        return None
    claim = claim or RulingsClaim((), None)
    given = {ruling.goal: ruling for ruling in claim.rulings}
    rulings = [_expected(controller, goal, given.get(goal.name), where) for goal in judged]
    proof = claim.certificate
    needed = None if proof is None else certificate.as_data(_needed(controller, claim, proof))
    return {"rulings": rulings, "certificate": needed}


def _part(said: Document | Summary) -> bool:
    """Whether this is one of several chains: of requirements their summary speaks."""
    return isinstance(said, Document) and (said.several or bool(re.fullmatch(r"chain-\d+\.json", said.place.name)))


def _unfinished(said: Document | Summary) -> bool:
    """Whether this is the best answer before the search ended: requirements come last."""
    return said.data.get("finished") is False


def untold(controller: Controller, said: Document | Summary) -> Line | None:
    """That nothing is said of requirements, where that may be so; None where they are told, or there are none."""
    judged = _judged(controller)
    if said.requirements is not None or not judged or (isinstance(said, Document) and said.several):
        return None
    text = f"of {counted(len(judged), 'requirement')} the file does not say whether it can fail"
    if _part(said):
        return Line(CAN_FAIL_LINE, NOTE, f"{text}: the summary of all chains does")
    return Line(CAN_FAIL_LINE, OPEN, f"{text}: the search had not ended") if _unfinished(said) else None


def _judged(controller: Controller) -> list[Goal]:
    return [goal for goal in controller.goals if goal.consequent is not None]


def _expected(controller: Controller, goal: Goal, claim: RulingClaim | None, where: Location) -> dict[str, Any]:
    if claim is None:
        return ruling_record(controller.system, goal, Ruling(goal.name, "missing", ""))
    status = claim.ruling if claim.ruling in RULINGS else f"one of {', '.join(RULINGS)}"
    if claim.test is None and status != CAN_FAIL:
        return ruling_record(controller.system, goal, Ruling(goal.name, status, claim.detail))
    if claim.test is None or status != CAN_FAIL:
        status = f"{CAN_FAIL} with a test, or another one without"
        return ruling_record(controller.system, goal, Ruling(goal.name, status, claim.detail))
    run = _run(controller, goal, claim.test, where)
    violated = violation(goal, {var.name for var in controller.system.inputs})
    step = run.length - violated.length
    if not Monitor([violated]).holds(run, violated.name, step):
        return ruling_record(controller.system, goal, Ruling(goal.name, "not violated by its test", claim.detail))
    failure = replace(explained(controller.problem, goal.name, run, step), shortest=bool(claim.shortest))
    return ruling_record(controller.system, goal, Ruling(goal.name, status, claim.detail, failure))


def _run(controller: Controller, goal: Goal, test: dict[str, Any], where: Location) -> Run:
    stimulus, simulator = read_test(test, goal.name, controller.system, where), Simulator(controller.system)
    return simulator.run(simulator.initial(stimulus.initial), stimulus.inputs)


def _needed(controller: Controller, claim: RulingsClaim, proof: Certificate) -> Certificate:
    """The certificate of what is claimed, with what ``proof`` says that it rests on."""
    inputs = {var.name for var in controller.system.inputs}
    earlier = {goal.name: max(0, violation(goal, inputs).length - 1) for goal in _judged(controller)}
    shortest = [ruling for ruling in claim.rulings if ruling.shortest and ruling.step is not None]
    return Certificate(
        goals=(),
        end=END,
        overlap="allow",
        invariants=proof.invariants,
        formulas={name: text for name, text in proof.formulas.items() if name in proof.invariants},
        normal_form=proof.normal_form,
        validity=proof.validity,
        edges=tuple(
            EdgeFact(INIT, violation_name(each.goal), (each.step or 0) + earlier.get(each.goal, 0)) for each in shortest
        ),
        monitors=proof.monitors,
        paths=(),
        order_bound=0,
        refuted=(0, 0),
        exhausted=proof.exhausted,
        lower=0,
        unreachable=tuple(violation_name(r.goal) for r in claim.rulings if r.ruling == NEVER_VIOLATED),
        acceleration=proof.acceleration,
    )


def violations(controller: Controller, claim: RulingsClaim, where: Location) -> Line | None:
    """Replay each run that is said to violate a property on the compiled original; None where there is none."""
    tests = {ruling.goal: ruling.test for ruling in claim.rulings if ruling.test is not None}
    goals = {goal.name: goal for goal in _judged(controller)}
    inputs = {var.name for var in controller.system.inputs}
    faults, left, on = [f"{name} is no property with a consequent" for name in tests if name not in goals], [], ""
    with ExitStack() as stack:
        try:
            built = stack.enter_context(compiled(controller.native)) if tests else None
        except NoCompiler:
            built = None
        for name, test in ((name, test) for name, test in tests.items() if name in goals):
            stimulus = read_test(test, name, controller.system, where)
            step = len(stimulus.inputs) - violation(goals[name], inputs).length
            try:
                played = replay_violation(controller, stimulus, name, step, built)
            except CheckDisagreed as error:
                faults.append(f"{name}: {error.message}")
                continue
            except LimitReached as error:
                left.append(f"{name}: {error.message}")
                continue
            on = played.on
            faults += [f"{name}: {text}" for text in (*played.refused, *played.disagreements)]
    if not tests:
        return None
    model = f"the model only ({controller.native.refusal or why_no_compiler()})"
    said = f"{counted(len(tests), 'run')} replayed on {model if on == 'model' else f'the compiled original ({on})'}"
    verdict = WRONG if faults else OPEN if left or on in ("", "model") else HOLDS
    return Line(VIOLATIONS, verdict, said if on else "not replayed", limited([*faults, *left]))


def found(controller: Controller, claim: RulingsClaim) -> Line | None:
    """The requirements that can fail: findings about the program, told by what is checked of them."""
    given = {ruling.goal: ruling for ruling in claim.rulings if ruling.ruling == CAN_FAIL}
    told = [f"{_named(goal)}: {_told(given[goal.name])}" for goal in _judged(controller) if goal.name in given]
    if not given:
        return None
    return Line(CAN_FAIL_LINE, FINDING, f"{counted(len(given), 'requirement')} can fail", limited(told))


def _named(goal: Goal) -> str:
    return f"{goal.name} ({goal.requirement})" if goal.requirement else goal.name


def _told(ruling: RulingClaim) -> str:
    """The run that violates it, in words."""
    steps = 0 if ruling.test is None else len(ruling.test["inputs"])
    return f"from step {ruling.step} of a {'shortest ' if ruling.shortest else ''}run of {counted(steps, 'step')}"


def proved_subject(controller: Controller, claim: RulingsClaim) -> Subject | None:
    """What ``claim`` says is proved; None where that is nothing."""
    never = {ruling.goal for ruling in claim.rulings if ruling.ruling == NEVER_VIOLATED}
    shortest = {ruling.goal for ruling in claim.rulings if ruling.shortest}
    return _subject(controller, (never, shortest), claim.certificate or _needed(controller, claim, NOTHING))


def undecided_subject(controller: Controller, claim: RulingsClaim) -> Subject | None:
    """What ``claim`` leaves undecided, as if it said that no run violates it; None where that is nothing."""
    left = {ruling.goal for ruling in claim.rulings if ruling.ruling == UNDECIDED}
    return _subject(controller, (left, set()), NOTHING)


def _subject(controller: Controller, claimed: tuple[set[str], set[str]], proof: Certificate) -> Subject | None:
    """That no run violates the first of the requirements ``claimed``, and what ``proof`` says of the steps to a
    violation of them and of the others; violations are the goals. None without any."""
    system, judged = controller.system, _judged(controller)
    known = [goal.name for goal in judged if goal.name in claimed[0] | claimed[1]]
    names = {violation_name(name) for name in known}
    violated = [violation(goal, {var.name for var in system.inputs}) for goal in judged]
    goals = tuple(
        goal if goal.length > 1 else _in_terms(goal, system)
        for goal in violated
        if goal.name in names or goal.name in proof.monitors
    )
    proof = replace(
        proof,
        unreachable=tuple(name for name in proof.unreachable if name in names),
        edges=tuple(edge for edge in proof.edges if edge.target in names),
    )
    listed = [*of_rulings([name for name in known if name in claimed[0]], proof)]
    return Subject(Setting(system, goals, None), controller.native, proof, listed) if known else None


def decided(controller: Controller, found: Mapping[str, Verdict]) -> Iterator[Line]:
    """What was ``found`` of the violations that a file leaves undecided: where a run is one, that is a finding."""
    names = {goal.name: _named(goal) for goal in _judged(controller)}
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
    following = {var.name: var.next for var in system.state}
    terms = {}
    for symbol in symbols_of(goal.antecedent):
        name, step = unframed(symbol)
        if step > 0 and name in following:
            terms[symbol] = at(following[name], step - 1)
    return replace(goal, antecedent=with_terms([goal.antecedent], terms)[0])


def proved(claims: Sequence[Claim], lines: Iterator[Line]) -> Line:
    """One line of the ``lines`` about ``claims`` that are proved again."""
    checked = [line for line in lines if line.verdict != UNCLAIMED]
    verdict = next((v for v in (WRONG, OPEN, HOLDS) if v in {line.verdict for line in checked}), HOLDS)
    least = sum(claim.kind == SHORTEST for claim in claims)
    never = len(claims) - least
    said = [f"{counted(never, 'requirement')} never violated"] if never else []
    said += [f"{counted(least, 'shortest run')}"] if least else []
    details = [f"{line.check}: {line.brief or line.text}" for line in checked if line.verdict in (WRONG, OPEN)]
    details += [text for line in checked if line.verdict in (WRONG, OPEN) for text in line.details]
    again = "proved again" if verdict == HOLDS else "not all proved again" if verdict == OPEN else "not so"
    return Line(NEVER, verdict, f"{' and '.join(said)}: {again}", tuple(details))
