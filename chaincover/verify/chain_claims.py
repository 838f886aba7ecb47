"""Sources, the chain itself and the arithmetic of its bounds against what chain.json says of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bmc.errors import CheckDisagreed, LimitReached
from chaincover.certificate import Certificate
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.formats.chain_file import Stimulus, read_stimulus
from chaincover.project.load import Controller
from chaincover.replay.original import Replay, replay
from chaincover.verify.document import Document, GoalClaim
from chaincover.verify.lengths import overlap
from chaincover.verify.report import HOLDS, NOTE, OPEN, WRONG, Line, limited
from chaincover.verify.setting import Setting

SOURCES, PROPERTIES, CHAIN, BOUND = "sources", "properties", "chain", "lower bound"


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
    return Line(SOURCES, HOLDS, f"{len(now)} file{'' if len(now) == 1 else 's'} with the SHA-256 recorded")


def properties(controller: Controller, document: Document) -> Line:
    """The properties that the file names for its goals against those of the project."""
    now = {goal.name: goal.text for goal in controller.goals}
    faults = [
        f"{goal.name}: the file says '{goal.property}', the project has '{now[goal.name]}'"
        for goal in document.goals
        if goal.name in now and goal.property != now[goal.name]
    ]
    return Line(PROPERTIES, WRONG if faults else HOLDS, f"{len(document.goals)} goals as in the project", tuple(faults))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _code(text: str) -> str:
    """The digest of preprocessed code: without line markers and empty lines."""
    rows = [row for row in text.splitlines() if row.strip() and not row.startswith("#line")]
    return _digest("\n".join(rows).encode())


def stimulus_of(controller: Controller, document: Document) -> Stimulus:
    """The inputs of the chain. InputRefused if they are not those of the program."""
    stimulus = read_stimulus(str(document.place), controller.system)
    return replace(stimulus, to_final=controller.final is not None)


def chain(controller: Controller, document: Document, stimulus: Stimulus, setting: Setting) -> Line:
    """The chain replayed on the compiled original, and each claim about it."""
    faults = list(_inconsistent(document, setting))
    try:
        played = replay(controller, stimulus)
    except CheckDisagreed as error:
        return Line(CHAIN, WRONG, "the compiled original does not survive the chain", (error.message, *faults))
    except LimitReached as error:
        return Line(CHAIN, WRONG if faults else OPEN, error.message, limited(faults))
    faults = [*_unlike(document, played), *faults]
    where = (
        "the model only (no C compiler was found)" if played.on == "model" else f"the compiled original ({played.on})"
    )
    text = f"{document.steps} steps replayed on {where}, {len(document.hits)} goals looked for where they are claimed"
    verdict = WRONG if faults else OPEN if played.on == "model" else HOLDS
    return Line(CHAIN, verdict, text, limited([*faults, *played.remarks]))


def _unlike(document: Document, played: Replay) -> Iterator[str]:
    """Where the replay is not as the document says."""
    judged = {goal.goal: goal for goal in played.goals}
    for hit in document.hits:
        goal = judged.get(hit.goal)
        if goal is None:
            yield f"{hit.goal} is no goal"
        elif goal.step != hit.step:
            yield f"{hit.goal} is not covered at step {hit.step}"
        elif goal.consequent_held != hit.consequent_held:
            yield f"the consequent of {hit.goal} at step {hit.step}: {goal.consequent_held}, not {hit.consequent_held}"
    if played.final is False:
        yield "the chain does not end in the final condition"
    yield from played.refused
    yield from played.disagreements
    if len(played.violations) != document.violations:
        yield f"{len(played.violations)} assertions fail, not {document.violations}"


def _inconsistent(document: Document, setting: Setting) -> Iterator[str]:
    """Where what the document says of its chain does not agree with itself."""
    names = [hit.goal for hit in document.hits]
    if document.length != document.steps:
        yield f"the chain has {document.steps} steps, not {document.length}"
    if list(document.order) != names or len(set(names)) != len(names):
        yield "the order is not that of the goals credited, each once"
    if sorted(hit.step for hit in document.hits) != [hit.step for hit in document.hits]:
        yield "the goals credited are not in the order of their steps"
    claimed = {(goal.name, goal.step) for goal in document.goals if goal.verdict == COVERED}
    if claimed != {(hit.goal, hit.step) for hit in document.hits}:
        yield "the goals said to be covered are not those credited"
    placed = [(hit.goal, hit.step) for hit in document.hits if hit.goal in setting.goals]
    for goal, step in placed:
        if not 0 <= step <= document.steps - setting.length(goal):
            yield f"{goal} at step {step} does not lie within the chain"
    if setting.overlap == "forbid":
        pairs = [(a, b) for n, a in enumerate(placed) for b in placed[n + 1 :]]
        yield from (f"{a[0]} and {b[0]} share steps" for a, b in pairs if overlap(setting, a, b))


def bound(document: Document, proof: Certificate | None, setting: Setting, searched: bool) -> Line:
    """Whether the bound follows from the facts of the certificate; ``searched``: all shorter runs were."""
    faults = list(_wrong_numbers(document))
    said = f"no chain shorter than {document.lower} steps"
    if proof is None:
        if not document.lower or faults:
            return Line(BOUND, WRONG if faults else HOLDS, said, tuple(faults))
        return Line(BOUND, OPEN, f"{said} is claimed; the file has no certificate of it")
    faults += _unfit(document, proof, setting)
    refuted, counts = proof.refuted, proof.refuted[0] < proof.refuted[1]
    if counts and refuted[0] > proof.order_bound:
        faults.append(f"nothing rules the lengths from {proof.order_bound} to {refuted[0] - 1} out")
        counts = False
    reached = max(proof.order_bound, refuted[1] if counts else 0)
    if faults or reached >= proof.lower:
        return Line(BOUND, WRONG if faults else HOLDS, f"{said}: the facts give {reached}", tuple(faults))
    if not proof.exhausted:
        return Line(BOUND, WRONG, f"{said}: the facts give only {reached}")
    text = f"{said}: the facts give {reached}, the rest rests on the search over all runs"
    return Line(BOUND, HOLDS if searched else OPEN, text)


def _wrong_numbers(document: Document) -> Iterator[str]:
    """Where length, bound and gap do not agree with each other."""
    length, lower = document.steps, document.lower
    if document.bound_length != length:
        yield f"the bounds speak of {document.bound_length} steps, the chain has {length}"
    if lower > length:
        yield f"the bound {lower} is above the length {length} of the chain"
    if document.minimal != (lower == length):
        yield f"the chain is said to be {'' if document.minimal else 'not '}minimal: {length} steps, bound {lower}"
    gap = 0.0 if lower == length else (length - lower) / lower if lower else None
    if (gap is None) != (document.gap is None) or abs((gap or 0.0) - (document.gap or 0.0)) > 1e-5:
        yield f"the gap is {gap}, not {document.gap}"


def _unfit(document: Document, proof: Certificate, setting: Setting) -> Iterator[str]:
    """Where the certificate speaks of other chains than the one it comes with."""
    strange = [goal for goal in proof.goals if goal not in {hit.goal for hit in document.hits}]
    if strange or len(set(proof.goals)) != len(proof.goals):
        yield f"the certificate is about other goals than the chain: {', '.join(strange) or 'one of them twice'}"
    if proof.end != setting.end:
        yield f"the certificate is about chains to '{proof.end}', not to '{setting.end}'"
    if proof.overlap not in ("allow", document.overlap):
        yield f"the certificate is about chains with overlap '{proof.overlap}', not '{document.overlap}'"
    if document.lower > proof.lower:
        yield f"the certificate is about the bound {proof.lower}, not {document.lower}"


def uncovered(document: Document) -> Sequence[GoalClaim]:
    """The goals that the chain does not cover."""
    return [goal for goal in document.goals if goal.verdict != COVERED]


def proof_claimed(goal: GoalClaim) -> bool:
    """Whether the verdict claims a proof over all runs, not only within K."""
    return goal.verdict == UNREACHABLE or (goal.verdict == NO_WAY_TO_FINAL and "within K" not in goal.detail)
