"""Documents made again from their inputs and claims, by the writer that makes them, and compared field by field.

Other checks look at what is claimed of all runs, and ``chaincover.verification.values`` works out what people read
without the writer. What is left is informative: ``INFORMATIVE`` and ``INFORMATIVE_OF_ALL`` name it, as
docs/reference/verify.md does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import isnan
from typing import Any

from bmc.errors import Location, counted
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.chain import Bounds, Chain, Hit, Hits, LongTest, Verdict, Violation
from chaincover.formats.chain_file import read_long_test, read_test
from chaincover.formats.document import OPEN_STARTS, UNPROVED, Document, GoalClaim
from chaincover.formats.writer import chain_document
from chaincover.options import Options
from chaincover.result import ChainResult
from chaincover.subject import Subject
from chaincover.verification.report import FINDING, HOLDS, NOTE, WRONG, Line, limited
from chaincover.verification.values import Values
from chaincover.weights import ReachGraph

FIELDS, FINDINGS, PROJECT = "fields", "requirements", "project"

RULINGS_INFORMATIVE = tuple(
    f"requirements.{name}" for name in ("rulings.detail", "certificate.counted", "certificate.claims.searched")
)

SEARCH_SETTINGS = tuple(f"settings.{name}" for name in asdict(Options()) if name != "overlap")
"""Settings that say how a chain was sought."""
OPTIONAL = ("gave_up", "dead_end")
"""Fields that are informative, and in a document only where there is something to say."""

INFORMATIVE = (
    "tool.version",
    "controller.name",
    "versions",
    *SEARCH_SETTINGS,
    "goals.detail",
    "bounds.basis",
    "bounds.k_reached",
    "no_chain",
    "finished",
    "stopped_by",
    "effort_used_up",
    "gave_up",
    "certificate.counted",
    "graph",
    "dead_end",
    *RULINGS_INFORMATIVE,
)
"""Fields of which nothing is checked, by their paths; docs/reference/verify.md says why."""

INFORMATIVE_OF_ALL = (
    "controller",
    *SEARCH_SETTINGS,
    "basis",
    "number_minimal_within_k",
    "conflicts.reason",
    "verdicts.detail",
    "finished",
    "stopped_by",
    "effort_used_up",
    "dead_end",
    *RULINGS_INFORMATIVE,
)
"""The same of ``chains.json``."""
NOTHING_KNOWN = ReachGraph((), "", {}, {}, (), (), -1, 0, 0.0)
Tree = Any


def fields(document: Document, again: Tree, values: Values) -> Line:
    """Every field of ``document`` against that of the document made ``again``, and its values against ``values``."""
    faults = [*values.faults(), *compared(again, document.data, INFORMATIVE)]
    text = "those that follow from the program, the project and the inputs were made again"
    return Line(FIELDS, WRONG if faults else HOLDS, text, limited(faults))


def findings(values: Values) -> Line | None:
    """What fails on the chain: a finding about the program, whatever the file says of it."""
    failed = [f"the consequent of {goal} fails at step {step}" for goal, step in values.failures]
    failed += [f"{assertion} fails in step {step}" for assertion, step in values.violations]
    if not failed:
        return None
    return Line(FINDINGS, FINDING, f"{counted(len(failed), 'failure')} on the chain", limited(failed))


def project(subject: Subject, document: Document) -> Line | None:
    """Where the project says otherwise than the settings of the file; None where it does not."""
    own, settings = subject.settings, document.settings
    pairs = (
        ("final", settings.final or "none", own.final or "none"),
        ("overlap", settings.overlap, own.overlap),
        ("bound", document.data["settings"].get("bound"), own.bound),
        ("hold", settings.hold, own.hold),
    )
    notes = [f"{name}: {said} in the file, {value} in the project" for name, said, value in pairs if said != value]
    left_out = [goal.name for goal in subject.observers.goals if goal.name not in {g.name for g in document.goals}]
    notes += [f"goals left out: {', '.join(left_out)}"] if left_out else []
    return (
        Line(PROJECT, NOTE, "the file was made with other settings than the project has", tuple(notes))
        if notes
        else None
    )


def made_again(subject: Subject, document: Document, values: Values) -> Tree:
    """The document of the inputs and claims in ``document``, by the writer."""
    given, where, system = document.data, document.where, subject.system
    named = {source.file: asdict(source) for source in document.sources}  # each once; another check looks at them
    invariants = [replace(one, proved=f"{UNPROVED}{one.name}" not in document.claims) for one in system.invariants]
    beyond = {goal.name: goal.long_test for goal in document.goals if goal.long_test is not None}
    said = {goal.name: goal.detail for goal in document.goals}
    result = ChainResult(
        chain=None if values.run is None else _chain(document, values, values.run),
        verdicts=tuple(Verdict(name, *values.verdict(name), said.get(name, "")) for name in values.setting.names),
        bounds=Bounds(document.bounds.lower, None if values.run is None else values.run.length, ""),
        certificate=document.certificate,
        graph=NOTHING_KNOWN,
        options=Options(overlap=document.settings.overlap),
        tests=tests_of(subject, document.goals, where),
        requirements=values.rulings,
        beyond={name: LongTest(*read_long_test(test, name, system, where)) for name, test in beyond.items()},
    )
    again = chain_document(
        replace(subject, system=replace(system, invariants=tuple(invariants))), result, sources=[*named.values()]
    )
    if again["chain"] is not None:
        for name in ("failures", "violations"):
            again["chain"][name] = _in_order_of(given["chain"].get(name), again["chain"][name])
    return again


def _chain(document: Document, values: Values, run: Run) -> Chain:
    """The chain with what its run covers and violates, and what it is said to rely on."""
    system = values.setting.system
    placed = ((goal, step) for goal, step in values.steps.items() if goal in values.setting.by_name)
    hits = [Hit(goal, step, values.held(goal, step)) for goal, step in placed]
    failed = [(hit.goal, hit.step) for hit in hits if hit.consequent_held is False]
    left = tuple(var.name for var in system.state if var.init is None and var.name not in system.chosen)
    return Chain(
        run=run,
        order=tuple(values.steps),
        hits=tuple(hits),
        repeats=Hits(Hit(goal, step, None) for goal, steps in values.covered.items() for step in steps),
        violations=tuple(Violation(*one) for one in values.violations),
        relies_on=left if f"{OPEN_STARTS}: {', '.join(left)}" in document.claims else (),
        late=tuple(Hit(goal, step, False) for goal, step in values.failures if (goal, step) not in failed),
    )


def tests_of(subject: Subject, claims: Iterable[GoalClaim], where: Location) -> dict[str, Run]:
    """The start state and inputs of the test of each goal that has one of its own. InputRefused if one is damaged."""
    simulator, known = Simulator(subject.system), {goal.name for goal in subject.goals}
    tests = {}
    for claim in claims:
        if claim.test is not None and claim.name in known:
            test = read_test(claim.test, claim.name, subject.system, where)
            tests[claim.name] = Run((simulator.initial(test.initial),), test.inputs)
    return tests


def _in_order_of(given: Tree, found: list[Tree]) -> list[Tree]:
    """``found`` in the order of ``given``, where these are the same but for the folders of sources."""

    def key(one: Tree) -> str:
        return re.sub(r"(?<='assertion': ')[^:']*/", "", repr(one))

    same = isinstance(given, list) and sorted(map(key, given)) == sorted(map(key, found))
    return given if same else found


def compared(again: Tree, given: Tree, informative: Sequence[str]) -> Iterator[str]:
    """Where ``given`` is not as it was made ``again``, but for the fields that are ``informative``."""
    paths = [tuple(name.split(".")) for name in informative]
    optional = {name: None for name in OPTIONAL if name in given and name in informative}
    yield from differences(_without({**again, **optional}, paths), _without(given, paths))


def _without(tree: Tree, paths: Sequence[tuple[str, ...]]) -> Tree:
    """``tree`` with nothing in the place of what is at one of ``paths``; lists have no part in these."""
    if _is_list(tree) and paths:
        return [_without(each, paths) for each in tree]
    if not isinstance(tree, Mapping) or not paths:
        return tree
    below = {key: [path[1:] for path in paths if path[0] == key] for key in tree}
    return {key: None if () in below[key] else _without(value, below[key]) for key, value in tree.items()}


def differences(expected: Tree, given: Tree, path: str = "") -> Iterator[str]:
    """Where ``given`` is not ``expected``, a sentence each: values of other types differ, and so do missing keys."""
    if isinstance(expected, Mapping) and isinstance(given, Mapping):
        for key in expected:
            name = f"{path}.{key}" if path else str(key)
            if key in given:
                yield from differences(expected[key], given[key], name)
            else:
                yield f"{name} is missing"
        yield from (f"{path}.{key} is no field".lstrip(".") for key in given if key not in expected)
    elif _is_list(expected) and _is_list(given):
        for place, (ours, theirs) in enumerate(zip(expected, given, strict=False)):
            yield from differences(ours, theirs, f"{path}[{place}]")
        if len(expected) != len(given):
            yield f"{path} has {len(given)} entries, not {len(expected)}"
    elif not _alike(expected, given):
        yield f"{path}: the file says {given!r}, it is {expected!r}"


def _is_list(value: Tree) -> bool:
    """Whether ``value`` is a list; long ones are made, or read, item by item."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _alike(one: Tree, other: Tree) -> bool:
    """Whether two values that are not put together are of one type and equal, or both no number."""
    return type(one) is type(other) and (one == other or (isinstance(one, float) and isnan(one) and isnan(other)))
