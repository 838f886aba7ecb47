"""Sources, the chain itself, tests and open start values against what chain.json says of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Not

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed, LimitReached, counted
from bmc.formulas.unroll import framed, shift
from bmc.system.original import Original
from bmc.system.transition import Run, TransitionSystem, equal
from chaincover.chain import COVERED
from chaincover.formats.chain_file import Stimulus, read_test, stimulus_in
from chaincover.formats.document import ChainClaim, Document, GoalClaim, Source
from chaincover.formats.writer import sources_of
from chaincover.project.values import shown
from chaincover.subject import Subject
from chaincover.target.judge import JudgedRun
from chaincover.target.original import built_once, ends_within, replay
from chaincover.verification.limits import Clock
from chaincover.verification.report import HOLDS, NOTE, OPEN, UNCLAIMED, WRONG, Line, limited
from chaincover.verification.setting import Setting
from chaincover.verification.unrolling import Unrolling
from chaincover.verification.values import inconsistent

SOURCES, PROPERTIES, CHAIN = "sources", "properties", "chain"
TESTS = "tests of goals"
STARTS = "open start values"


def sources(subject: Subject, document: Document) -> Line:
    """The sources now against those that the chain was made for: a change is worth knowing, and no error."""
    now = {each["file"]: Source(**each) for each in sources_of(subject)}
    recorded = {source.file: source for source in document.sources}
    notes = [f"{name} was no source then" for name in now if name not in recorded]
    notes += [f"{name} is no source now" for name in recorded if name not in now]
    for name in (name for name in now if now[name] != recorded.get(name, now[name])):
        same = now[name].preprocessed_sha256 == recorded[name].preprocessed_sha256
        text = "changed since, but not its preprocessed code" if same else "changed since, preprocessed code and all"
        notes.append(f"{name} {text}")
    if notes:
        text = "not those of the chain; everything is checked on them as they are now"
        return Line(SOURCES, NOTE, text, tuple(notes))
    return Line(SOURCES, HOLDS, f"{counted(len(now), 'file')} with the SHA-256 recorded")


def properties(subject: Subject, document: Document) -> Line:
    """The properties that the file names for its goals against those of the project."""
    now = {goal.name: goal.text for goal in subject.goals}
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


def stimulus_of(subject: Subject, document: Document) -> Stimulus:
    """The inputs of the chain. InputRefused if they are not those of the program."""
    stimulus = stimulus_in(document.data, document.where, subject.system)
    return replace(stimulus, to_final=subject.final is not None)


def chain(subject: Subject, document: Document, stimulus: Stimulus, setting: Setting) -> Line:
    """The chain replayed on the compiled original, and each claim about it."""
    claim = document.chain
    assert claim is not None
    faults = list(inconsistent(document, claim, setting))
    try:
        played = replay(subject, stimulus)
    except CheckDisagreed as error:
        return Line(CHAIN, WRONG, "the compiled original does not survive the chain", (error.message, *faults))
    except LimitReached as error:
        return Line(CHAIN, WRONG if faults else OPEN, error.message, limited(faults))
    faults = [*_unlike(subject, claim, played), *faults]
    goals = counted(len(claim.hits), "goal")
    where = _place(played)
    text = f"{counted(claim.steps, 'step')} replayed on {where}, {goals} looked for where claimed"
    verdict = WRONG if faults else OPEN if played.on == "model" else HOLDS
    return Line(CHAIN, verdict, text, limited([*faults, *played.remarks]))


def tests(subject: Subject, document: Document) -> Line:
    """Replay the test of its own that a goal may have beside the chain, and see whether it covers the goal.

    It may end as soon as it does, within a held step too.
    """
    own = {goal.name: goal.test for goal in document.goals if goal.test is not None}
    if not own:
        return Line(TESTS, UNCLAIMED, "no goal has a test of its own")

    def played(name: str, stimulus: Stimulus, built: Original | None) -> JudgedRun:
        goals = tuple(goal for goal in subject.goals if goal.name == name)
        found = replay(replace(subject, goals=goals), stimulus, built=built)
        missed = () if any(goal.times for goal in found.goals) else ("its test does not cover it",)
        refused = tuple(text for text in found.refused if text != ends_within(subject.hold))
        return replace(found, refused=(*missed, *refused))

    stimuli = {name: read_test(test, name, subject.system, document.where) for name, test in own.items()}
    return replayed((TESTS, "test"), stimuli, subject, played)


def replayed(
    told: tuple[str, str],
    stimuli: Mapping[str, Stimulus],
    subject: Subject,
    play: Callable[[str, Stimulus, Original | None], JudgedRun],
) -> Line:
    """The replay by ``play`` of the ``stimuli``, each of its goal, on one build of the compiled original, if it can be
    built. ``told``: the check, and what each stimulus is."""
    faults, left, played = [], [], None
    with built_once(subject.model, False) as original:
        for name, stimulus in stimuli.items():
            try:
                found = play(name, stimulus, original())
            except CheckDisagreed as error:
                faults.append(f"{name}: {error.message}")
            except LimitReached as error:
                left.append(f"{name}: {error.message}")
            else:
                played = found
                faults += [f"{name}: {text}" for text in (*found.refused, *found.disagreements)]
    text = f"{counted(len(stimuli), told[1])} replayed on {_place(played)}" if played is not None else "not replayed"
    verdict = WRONG if faults else OPEN if left or played is None or played.on == "model" else HOLDS
    return Line(told[0], verdict, text, limited([*faults, *left]))


def _place(played: JudgedRun) -> str:
    """Where a run was replayed, in words."""
    return f"the model only ({played.why})" if played.on == "model" else f"{played.original} ({played.on})"


def _unlike(subject: Subject, claim: ChainClaim, played: JudgedRun) -> Iterator[str]:
    """Where the replay is not as the document says; deadlines are judged by looking at each occurrence on its own."""
    decided = _decisions(subject, {hit.goal for hit in claim.hits}, played.run)
    judged = {goal.goal: goal for goal in played.goals}
    for hit in claim.hits:
        goal = judged.get(hit.goal)
        if goal is None:
            yield f"{hit.goal} is no goal"
        elif goal.step != hit.step:
            yield f"{hit.goal} is not covered at step {hit.step}"
        elif goal.consequent_held != hit.consequent_held:
            yield f"the consequent of {hit.goal} at step {hit.step}: {goal.consequent_held}, not {hit.consequent_held}"
        elif goal.goal in decided and (hit.step, hit.consequent_held) not in decided[goal.goal]:
            yield f"no occurrence of the antecedent of {hit.goal} is decided so at step {hit.step}"
    if played.final is False:
        yield "the chain does not end in the final condition"
    yield from played.refused
    yield from played.disagreements
    if len(played.violations) != claim.violations:
        yield f"{len(played.violations)} assertions fail, not {claim.violations}"


def _decisions(subject: Subject, names: Collection[str], run: Run) -> dict[str, set[tuple[int, bool]]]:
    """For each of the goals ``names`` with a deadline: the steps of its occurrences in ``run``, and whether it held."""
    inputs = {var.name for var in subject.system.inputs}
    return {
        goal.name: {(one.after, one.held) for one in goal.deadline.decisions(run, inputs)}
        for goal in subject.goals
        if goal.deadline is not None and goal.name in names
    }


def uncovered(document: Document) -> Sequence[GoalClaim]:
    """The goals that the chain does not cover."""
    return [goal for goal in document.goals if goal.verdict != COVERED]


def open_starts(setting: Setting, stimulus: Stimulus, relies: bool, clock: Clock) -> Line | None:
    """Ask for start values with which a step is not allowed, a goal is missed or the end is; None if none are open.

    ``relies``: the document says that the chain may depend on them. Values that the tester chooses are given.
    """
    system = setting.system
    open_ones = [var for var in system.state if var.init is None and var.name not in system.chosen]
    if not open_ones:
        return None
    said = f"init leaves {', '.join(var.name for var in open_ones)} open"
    if relies:
        return Line(STARTS, UNCLAIMED, f"{said}; the chain is said to rely on these")
    steps = len(stimulus.inputs)
    unrolling = Unrolling(system, setting.formulas, system.init_formula, TRUE(), clock)
    claimed = {goal: step for goal, step in stimulus.claimed.items() if goal in setting.by_name}
    wanted = [shift(setting.by_name[goal].antecedent, step) for goal, step in claimed.items()]
    wanted += setting.end_formulas(steps)
    found = unrolling.ask(And(*_given(system, stimulus), Not(And(unrolling.valid(steps), *wanted))), steps)
    if found.status is Status.UNSAT:
        return Line(STARTS, HOLDS, f"{said}; the chain does what it claims for all their values")
    if found.status is Status.UNKNOWN or found.run is None:
        return Line(STARTS, OPEN, f"{said}; the solver did not finish")
    if _fine(setting, found.run, claimed):
        raise CheckDisagreed("the start values that the solver found for a failing chain do not fail it when simulated")
    failing = shown(open_ones, found.run.states[0])
    values = ", ".join(f"{name}={value}" for name, value in failing.items())
    return Line(STARTS, WRONG, f"{said}; the chain fails for some of their values", (values,))


def _given(system: TransitionSystem, stimulus: Stimulus) -> Iterator[FNode]:
    """That the start values and inputs are those of ``stimulus``."""
    known = {var.name: (var.symbol, var.type) for var in system.inputs}
    known |= {var.name: (var.symbol, var.type) for var in system.state}
    for step, values in (*enumerate(stimulus.inputs), (0, stimulus.initial)):
        for name, value in values.items():
            symbol, kind = known[name]
            yield equal(framed(symbol, step), kind.constant(value))


def _fine(setting: Setting, run: Run, claimed: Mapping[str, int]) -> bool:
    """Whether ``run`` does all that the chain claims."""
    covered = setting.covered(run)
    reached = all(step in covered[goal] for goal, step in claimed.items())
    return reached and setting.sound(run) == run.length and setting.ends_well(run, run.length)
