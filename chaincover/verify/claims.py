"""Sources, the chain itself, its start and the arithmetic of its bounds against what chain.json says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from pysmt.shortcuts import TRUE, And, Not

from bmc.digests import sha256
from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed, LimitReached, counted
from bmc.formulas.unroll import at, framed, shift
from bmc.native.build import why_no_compiler
from bmc.native.original import CompiledOriginal, NoCompiler, compiled
from bmc.system.transition import Run, equal
from chaincover.certificate import Certificate
from chaincover.chain import COVERED
from chaincover.formats.chain_file import Stimulus, read_test, stimulus_in
from chaincover.formats.document import ChainClaim, Document, GoalClaim
from chaincover.project.load import Controller
from chaincover.project.values import shown
from chaincover.replay.original import Replay, ends_within, replay
from chaincover.verify.acceleration import JUMPS
from chaincover.verify.constraints import CONSTRAINTS
from chaincover.verify.limits import Clock
from chaincover.verify.orders import CHECK as ORDERS
from chaincover.verify.prices import PRICES
from chaincover.verify.report import HOLDS, NOTE, OPEN, UNCLAIMED, WRONG, Line, limited
from chaincover.verify.setting import Setting
from chaincover.verify.unrolling import Unrolling
from chaincover.verify.verdicts import EDGES, LENGTHS, PATHS

SOURCES, PROPERTIES, CHAIN, BOUND = "sources", "properties", "chain", "lower bound"
TESTS = "tests of goals"
STARTS = "open start values"
ALL_RUNS = "all runs"
WORSE = (HOLDS, OPEN, WRONG)
"""Verdicts on what something rests on, the worst last."""


def sources(controller: Controller, document: Document) -> Line:
    """The sources now against those that the chain was made for: a change is worth knowing, and no error."""
    units = controller.model.program.units
    files = zip(controller.project.sources, controller.project.config.files, units, strict=True)
    now = {name: (_digest(Path(path).read_bytes()), _code(unit.source.text)) for name, path, unit in files}
    recorded = {source.file: (source.sha256, source.preprocessed_sha256) for source in document.sources}
    notes = [f"{name} was no source then" for name in now if name not in recorded]
    notes += [f"{name} is no source now" for name in recorded if name not in now]
    for name in (name for name in now if name in recorded):
        (text, code), (old_text, old_code) = now[name], recorded[name]
        if code != old_code:
            notes.append(f"{name} changed since, preprocessed code and all")
        elif text != old_text:
            notes.append(f"{name} changed since, but not its preprocessed code")
    if notes:
        return Line(
            SOURCES, NOTE, "not those of the chain; everything is checked on them as they are now", tuple(notes)
        )
    return Line(SOURCES, HOLDS, f"{counted(len(now), 'file')} with the SHA-256 recorded")


def properties(controller: Controller, document: Document) -> Line:
    """The properties that the file names for its goals against those of the project."""
    now = {goal.name: goal.text for goal in controller.goals}
    faults = [
        f"{goal.name}: the file says '{goal.property}', the project has '{now[goal.name]}'"
        for goal in document.goals
        if goal.name in now and goal.property != now[goal.name]
    ]
    return Line(
        PROPERTIES,
        WRONG if faults else HOLDS,
        f"{counted(len(document.goals), 'goal')} as in the project",
        tuple(faults),
    )


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _code(text: str) -> str:
    """The digest of preprocessed code: without line markers and empty lines."""
    rows = [row for row in text.splitlines() if row.strip() and not row.startswith("#line")]
    return _digest("\n".join(rows).encode())


def stimulus_of(controller: Controller, document: Document) -> Stimulus:
    """The inputs of the chain. InputRefused if they are not those of the program."""
    stimulus = stimulus_in(document.data, document.where, controller.system)
    return replace(stimulus, to_final=controller.final is not None)


def chain(controller: Controller, document: Document, stimulus: Stimulus, setting: Setting) -> Line:
    """The chain replayed on the compiled original, and each claim about it."""
    claim = document.chain
    assert claim is not None
    faults = list(_inconsistent(document, claim, setting))
    try:
        played = replay(controller, stimulus)
    except CheckDisagreed as error:
        return Line(CHAIN, WRONG, "the compiled original does not survive the chain", (error.message, *faults))
    except LimitReached as error:
        return Line(CHAIN, WRONG if faults else OPEN, error.message, limited(faults))
    faults = [*_unlike(controller, claim, played), *faults]
    where = (
        f"the model only ({controller.native.refusal or why_no_compiler()})"
        if played.on == "model"
        else f"the compiled original ({played.on})"
    )
    goals = counted(len(claim.hits), "goal")
    text = f"{counted(claim.steps, 'step')} replayed on {where}, {goals} looked for where claimed"
    verdict = WRONG if faults else OPEN if played.on == "model" else HOLDS
    return Line(CHAIN, verdict, text, limited([*faults, *played.remarks]))


def tests(controller: Controller, document: Document) -> Line:
    """Replay the test of its own that a goal may have beside the chain, and see whether it covers the goal.

    It may end as soon as it does, within a held step too.
    """
    own = [(goal.name, goal.test) for goal in document.goals if goal.test is not None]
    if not own:
        return Line(TESTS, UNCLAIMED, "no goal has a test of its own")
    with ExitStack() as stack:
        try:
            built = stack.enter_context(compiled(controller.native))
        except NoCompiler:
            built = None
        return _tested(controller, document, own, built)


def _tested(
    controller: Controller, document: Document, own: Sequence[tuple[str, Any]], built: CompiledOriginal | None
) -> Line:
    """The replay of the tests ``own``, each with its goal, on the original that is ``built``, if it is."""
    faults, left, on = [], [], ""
    for name, test in own:
        stimulus = read_test(test, name, controller.system, document.where)
        if test.get("length") != len(stimulus.inputs):
            faults.append(f"{name}: the test has {counted(len(stimulus.inputs), 'step')}, not {test.get('length')}")
        goals = tuple(goal for goal in controller.goals if goal.name == name)
        try:
            played = replay(replace(controller, goals=goals), stimulus, built=built)
        except CheckDisagreed as error:
            faults.append(f"{name}: {error.message}")
            continue
        except LimitReached as error:
            left.append(f"{name}: {error.message}")
            continue
        on = played.on
        if not any(goal.times for goal in played.goals):
            faults.append(f"{name} is not covered by its test")
        refused = [text for text in played.refused if text != ends_within(controller.system.hold)]
        faults += [f"{name}: {text}" for text in (*refused, *played.disagreements)]
    where = (
        f"the model only ({controller.native.refusal or why_no_compiler()})"
        if on == "model"
        else f"the compiled original ({on})"
    )
    text = f"{counted(len(own), 'test')} replayed on {where}" if on else "not replayed"
    verdict = WRONG if faults else OPEN if left or on == "model" else HOLDS
    return Line(TESTS, verdict, text, limited([*faults, *left]))


def _unlike(controller: Controller, claim: ChainClaim, played: Replay) -> Iterator[str]:
    """Where the replay is not as the document says; deadlines are judged by looking at each occurrence on its own."""
    inputs = {var.name for var in controller.system.inputs}
    by_name = {goal.name: goal.deadline for goal in controller.goals if goal.deadline is not None}
    deadlines = {
        name: {(one.after, one.held) for one in deadline.decisions(played.run, inputs)}
        for name, deadline in by_name.items()
        if name in {hit.goal for hit in claim.hits}
    }
    judged = {goal.goal: goal for goal in played.goals}
    for hit in claim.hits:
        goal = judged.get(hit.goal)
        if goal is None:
            yield f"{hit.goal} is no goal"
        elif goal.step != hit.step:
            yield f"{hit.goal} is not covered at step {hit.step}"
        elif goal.consequent_held != hit.consequent_held:
            yield f"the consequent of {hit.goal} at step {hit.step}: {goal.consequent_held}, not {hit.consequent_held}"
        elif goal.goal in deadlines and (hit.step, hit.consequent_held) not in deadlines[goal.goal]:
            yield f"no occurrence of the antecedent of {hit.goal} is decided so at step {hit.step}"
    if played.final is False:
        yield "the chain does not end in the final condition"
    yield from played.refused
    yield from played.disagreements
    if len(played.violations) != claim.violations:
        yield f"{len(played.violations)} assertions fail, not {claim.violations}"


def _inconsistent(document: Document, claim: ChainClaim, setting: Setting) -> Iterator[str]:
    """Where what the document says of its chain does not agree with itself."""
    names = [hit.goal for hit in claim.hits]
    if claim.length != claim.steps:
        yield f"the chain has {counted(claim.steps, 'step')}, not {claim.length}"
    if list(claim.order) != names or len(set(names)) != len(names):
        yield "the order is not that of the goals credited, each once"
    if sorted(hit.step for hit in claim.hits) != [hit.step for hit in claim.hits]:
        yield "the goals credited are not in the order of their steps"
    claimed = {(goal.name, goal.step) for goal in document.goals if goal.verdict == COVERED}
    if claimed != {(hit.goal, hit.step) for hit in claim.hits}:
        yield "the goals said to be covered are not those credited"
    placed = [(hit.goal, hit.step) for hit in claim.hits if hit.goal in setting.by_name]
    for goal, step in placed:
        if not 0 <= step <= claim.steps - setting.length(goal):
            yield f"{goal} at step {step} does not lie within the chain"
    if setting.forbid:
        pairs = [(a, b) for n, a in enumerate(placed) for b in placed[n + 1 :]]
        yield from (f"{a[0]} and {b[0]} share steps" for a, b in pairs if setting.overlap_between(a, b))


def bound(document: Document, proof: Certificate | None, setting: Setting, said: Mapping[str, str]) -> Line:
    """Whether the bound follows from the facts of the certificate, and these hold: ``said`` has the verdicts on them.

    A search over all shorter runs shows it whatever the facts are.
    """
    faults = list(_wrong_numbers(document))
    lower = document.bounds.lower
    text = f"no chain shorter than {counted(lower, 'step')}"
    if proof is None:
        if not lower or faults:
            return Line(BOUND, WRONG if faults else HOLDS, text, tuple(faults))
        return Line(BOUND, OPEN, f"{text} is claimed; the file has no certificate of it")
    faults += _unfit(document, proof, setting)
    refuted, counts = proof.refuted, proof.refuted[0] < proof.refuted[1]
    if counts and refuted[0] > proof.order_bound:
        faults.append(f"nothing rules the lengths from {proof.order_bound} to {refuted[0] - 1} out")
        counts = False
    if faults:
        return Line(BOUND, WRONG, f"{text}: what is said for it does not hold together", tuple(faults))
    bases = _bases(proof, counts)
    ways = [(f"the facts give {reached}", checks) for reached, checks in bases if reached >= lower]
    if not ways and not proof.exhausted:
        return Line(BOUND, WRONG, f"{text}: the facts give only {max(reached for reached, _ in bases)}")
    if not ways or said.get(ALL_RUNS) == HOLDS:
        ways.append(("all shorter runs were searched", (ALL_RUNS,)))
    if not lower:
        ways.append(("no chain has fewer", ()))
    always = [CONSTRAINTS, *([ALL_RUNS] if said.get(ALL_RUNS) == WRONG else [])]
    lines = [_rested(f"{text}: {how}", [*checks, *always], said) for how, checks in ways]
    return min(lines, key=lambda line: WORSE.index(line.verdict))


def _bases(proof: Certificate, refuted: bool) -> list[tuple[int, tuple[str, ...]]]:
    """The bounds that the facts of ``proof`` give, each with the checks that it rests on; ``refuted``: lengths too."""
    orders = (EDGES[0], PATHS[0], ORDERS)
    found: list[tuple[int, tuple[str, ...]]] = [(proof.order_bound, orders)]
    if proof.flow_bound:
        found.append((proof.flow_bound, (PRICES,)))
    if proof.acceleration is not None:
        found.append((proof.acceleration.bound, (JUMPS,)))
    if refuted:
        found.append((proof.refuted[1], (*(orders if proof.refuted[0] > 0 else ()), LENGTHS[0])))
    return found


def _rested(text: str, checks: Sequence[str], said: Mapping[str, str]) -> Line:
    """The line on a bound that rests on ``checks``: the worst that is ``said`` of them.

    Neither a note nor silence is a proof, but where the project has no constraints.
    """
    told = {name: said.get(name, HOLDS if name == CONSTRAINTS else OPEN) for name in checks}
    told = {name: OPEN if verdict == NOTE else verdict for name, verdict in told.items()}
    worst = max((verdict for verdict in told.values() if verdict in WORSE), key=WORSE.index, default=HOLDS)
    blamed = [f"{name}: {worst}" for name, verdict in told.items() if verdict == worst != HOLDS]
    return Line(BOUND, worst, text, tuple(blamed))


def _wrong_numbers(document: Document) -> Iterator[str]:
    """Where length, bound and gap do not agree with each other."""
    bounds, length = document.bounds, None if document.chain is None else document.chain.steps
    lower = bounds.lower
    if bounds.length != length:
        yield f"the bounds speak of {bounds.length} steps, the chain has {length}"
    if length is None:
        if bounds.minimal:
            yield "there is no chain that could be minimal"
        return
    if lower > length:
        yield f"the bound {lower} is above the length {length} of the chain"
    if bounds.minimal != (lower == length):
        said = f"{'' if bounds.minimal else 'not '}minimal"
        yield f"the chain is said to be {said}: {counted(length, 'step')}, bound {lower}"
    gap = 0.0 if lower == length else (length - lower) / lower if lower else None
    if (gap is None) != (bounds.gap is None) or abs((gap or 0.0) - (bounds.gap or 0.0)) > 1e-5:
        yield f"the gap is {gap}, not {bounds.gap}"


def _unfit(document: Document, proof: Certificate, setting: Setting) -> Iterator[str]:
    """Where the certificate speaks of other chains than the one it comes with."""
    known = document.credited if document.chain is not None else [goal.name for goal in document.goals]
    strange = [goal for goal in proof.goals if goal not in known]
    if strange or len(set(proof.goals)) != len(proof.goals):
        yield f"the certificate is about other goals than the chain: {', '.join(strange) or 'one of them twice'}"
    if proof.end != setting.end:
        yield f"the certificate is about chains to '{proof.end}', not to '{setting.end}'"
    if proof.overlap not in ("allow", document.settings.overlap):
        yield f"the certificate is about chains with overlap '{proof.overlap}', not '{document.settings.overlap}'"
    if proof.validity is not None and proof.validity.steps is not None and proof.lower > proof.validity.steps + 1:
        yield f"its facts are about runs of up to {counted(proof.validity.steps, 'step')}"
    if document.bounds.lower != proof.lower:
        yield f"the certificate is about the bound {proof.lower}, not {document.bounds.lower}"


def uncovered(document: Document) -> Sequence[GoalClaim]:
    """The goals that the chain does not cover."""
    return [goal for goal in document.goals if goal.verdict != COVERED]


def open_starts(setting: Setting, stimulus: Stimulus, relies: bool, clock: Clock) -> Line | None:
    """Ask for start values with which a step is not allowed, a goal is missed or the end is; None if none are open.

    ``relies``: the document says that the chain may depend on them. Values that the tester chooses are given.
    """
    system = setting.system
    names = [var.name for var in system.state if var.init is None and var.name not in system.chosen]
    if not names:
        return None
    said = f"init leaves {', '.join(names)} open"
    if relies:
        return Line(STARTS, UNCLAIMED, f"{said}; the chain is said to rely on these")
    steps = len(stimulus.inputs)
    unrolling = Unrolling(system, setting.formulas, system.init_formula, TRUE(), clock)
    given = [
        equal(framed(var.symbol, step), var.type.constant(values[var.name]))
        for step, values in enumerate(stimulus.inputs)
        for var in system.inputs
    ]
    given += [
        equal(framed(var.symbol, 0), var.type.constant(stimulus.initial[var.name]))
        for var in system.state
        if var.name in stimulus.initial
    ]
    claimed = {goal: step for goal, step in stimulus.claimed.items() if goal in setting.by_name}
    wanted = [shift(setting.by_name[goal].antecedent, step) for goal, step in claimed.items()]
    if setting.final is not None:
        wanted.append(at(setting.final, steps))
    found = unrolling.ask(And(*given, Not(And(unrolling.valid(steps), *wanted))), steps)
    if found.status is Status.UNSAT:
        return Line(STARTS, HOLDS, f"{said}; the chain does what it claims for all their values")
    if found.status is Status.UNKNOWN or found.run is None:
        return Line(STARTS, OPEN, f"{said}; the solver did not finish")
    if _fine(setting, found.run, claimed):
        raise CheckDisagreed("the start values that the solver found for a failing chain do not fail it when simulated")
    failing = shown([var for var in system.state if var.name in names], found.run.states[0])
    values = ", ".join(f"{name}={value}" for name, value in failing.items())
    return Line(STARTS, WRONG, f"{said}; the chain fails for some of their values", (values,))


def _fine(setting: Setting, run: Run, claimed: Mapping[str, int]) -> bool:
    """Whether ``run`` does all that the chain claims."""
    covered = setting.covered(run)
    reached = all(step in covered[goal] for goal, step in claimed.items())
    return reached and setting.sound(run) == run.length and setting.ends_well(run, run.length)
