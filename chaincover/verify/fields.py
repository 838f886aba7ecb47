"""Every field of ``chain.json``: what follows from program, project and inputs is made again and compared.

Other checks look at what is claimed of all runs. What is left is informative: ``INFORMATIVE`` names it, as
docs/reference/verify.md does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import isnan
from typing import Any

from bmc.c.controller.ranges import only_named
from bmc.errors import Location, counted
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem
from chaincover import certificate
from chaincover.chain import COVERED, STATUSES, Chain, Hit, LongTest
from chaincover.formats.chain_file import (
    SCHEMA,
    Stimulus,
    bounds_claim,
    controller_record,
    long_test_record,
    read_long_test,
    read_test,
    start_record,
)
from chaincover.formats.document import Document, Source
from chaincover.formats.rows import ChainRows
from chaincover.project.load import Controller
from chaincover.project.values import shown
from chaincover.verify.report import FINDING, HOLDS, NOTE, WRONG, Line, limited
from chaincover.verify.requirements import expected_rulings
from chaincover.verify.setting import Setting
from properties.goal import kind, violation, violation_name
from properties.monitor import Monitor

FIELDS, FINDINGS, PROJECT = "fields", "requirements", "project"

SEARCH = (
    "bound",
    "ordering",
    "engine",
    "effort",
    "repair",
    "max_length",
    "time_limit",
    "query_limit",
    "memory_limit",
)
"""Settings that say how the chain was sought."""

RULINGS_INFORMATIVE = tuple(
    f"requirements.{name}" for name in ("rulings.detail", "certificate.counted", "certificate.exhausted")
)

INFORMATIVE = (
    "tool.version",
    "controller.name",
    "versions",
    *(f"settings.{name}" for name in SEARCH),
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

Tree = Any


def fields(document: Document, expected: Expected) -> Line:
    """Every field that follows from the program, the project and the inputs of the chain, made again."""
    faults = [*differences(expected.document(), document.data), *_certificate(document)]
    text = "those that follow from the program, the project and the inputs were made again"
    return Line(FIELDS, WRONG if faults else HOLDS, text, limited(faults))


def findings(expected: Expected) -> Line | None:
    """What fails on the chain: a finding about the program, whatever the file says of it."""
    failed = [f"the consequent of {one['goal']} fails at step {one['step']}" for one in expected.failures]
    failed += [f"{one['assertion']} fails in step {one['step']}" for one in expected.violations]
    if not failed:
        return None
    return Line(FINDINGS, FINDING, f"{counted(len(failed), 'failure')} on the chain", limited(failed))


def project(controller: Controller, document: Document) -> Line | None:
    """Where the project says otherwise than the settings of the file; None where it does not."""
    own, settings = controller.project, document.settings
    function = own.final_function if controller.model.program.function(own.final_function or "") else ""
    final = own.final or (f"{function}()" if function else "")
    pairs = (
        ("final", settings.final or "none", final or "none"),
        ("overlap", settings.overlap, own.overlap),
        ("bound", document.data["settings"].get("bound"), own.bound),
        ("hold", settings.hold, own.hold),
    )
    notes = [f"{name}: {said} in the file, {value} in the project" for name, said, value in pairs if said != value]
    left_out = [goal.name for goal in controller.observers.goals if goal.name not in {g.name for g in document.goals}]
    notes += [f"goals left out: {', '.join(left_out)}"] if left_out else []
    return (
        Line(PROJECT, NOTE, "the file was made with other settings than the project has", tuple(notes))
        if notes
        else None
    )


class Expected:
    """The parts of ``chain.json`` as they should be; what other checks are about is taken from the file."""

    def __init__(self, controller: Controller, document: Document, stimulus: Stimulus | None, setting: Setting) -> None:
        self._controller, self._document, self._setting = controller, document, setting
        self._monitor = Monitor(controller.goals)
        self._hits = {hit.goal: hit.step for hit in document.chain.hits} if document.chain else {}
        self._run: Run | None = None
        self._covered: Mapping[str, Sequence[int]] = {}
        if stimulus is not None:
            simulator = Simulator(controller.system)
            self._run = simulator.run(simulator.initial(stimulus.initial), stimulus.inputs)
            self._covered = self._monitor.covered(self._run)

    def document(self) -> Tree:
        """The whole document."""
        data = self._document.data
        everything = all(goal.name in self._hits for goal in self._controller.goals)
        return {
            "schema": SCHEMA,
            "tool": {"name": "chaincover", "version": _entry(data, "tool", "version")},
            "controller": {
                **controller_record(self._controller, self._sources()),
                "name": data["controller"]["name"],
            },
            "settings": settings_of(self._controller, data["settings"]),
            "versions": _entry(data, "versions"),
            "goals": self._goals(),
            "bounds": self._bounds(),
            "no_chain": None if everything and self._run is not None else _entry(data, "no_chain"),
            **{name: _entry(data, name) for name in ("finished", "stopped_by", "effort_used_up")},
            "requirements": expected_rulings(self._controller, self._document, self._document.where),
            "claims": self._claims(),
            "certificate": _entry(data, "certificate"),
            "chain": self._chain(),
            "graph": _entry(data, "graph"),
            **{name: data[name] for name in ("gave_up", "dead_end") if name in data},
        }

    def _sources(self) -> list[dict[str, str]]:
        """The sources that the file names, each once: whether they are those of now is another check's."""
        named = {source.file: source for source in self._document.sources}
        return [{name: getattr(one, name) for name in Source.__slots__} for one in named.values()]

    def _goals(self) -> Tree:
        given = {str(goal["name"]): goal for goal in self._document.data["goals"]}
        first: dict[tuple[object, ...], str] = {}
        found = []
        for goal in self._controller.goals:
            one = first.setdefault(kind(goal, self._document.settings.overlap), goal.name)
            own = given.get(goal.name, {})
            step = self._hits.get(goal.name)
            found.append(
                {
                    "name": goal.name,
                    "property": goal.text,
                    "requirement": goal.requirement,
                    "description": goal.description,
                    "generated": goal.generated or None,
                    "representative": None if one == goal.name else one,
                    "length": goal.length,
                    "verdict": self._verdict(goal.name, own.get("verdict")),
                    "step": step,
                    "consequent_held": self._held(goal.name, step),
                    "detail": own.get("detail"),
                    "test": test_of(self._controller.system, goal.name, own.get("test"), self._document.where),
                    **self._long_test(goal.name, own),
                }
            )
        return found

    def _long_test(self, goal: str, own: Mapping[str, Any]) -> Tree:
        """The test that has more steps than are stored, where one is told, written as in a file."""
        if "long_test" not in own:
            return {}
        test = LongTest(*read_long_test(own["long_test"], goal, self._controller.system, self._document.where))
        return long_test_record(self._controller.system, test)

    def _verdict(self, goal: str, said: object) -> object:
        """``said``, where it can be: a goal is covered if the chain is credited with it, or covers it all the same."""
        met = goal in self._hits or (not self._setting.forbid and bool(self._covered.get(goal)))
        if met:
            return COVERED
        return said if said in STATUSES and said != COVERED else f"one of {', '.join(STATUSES[1:])}"

    def _held(self, goal: str, step: int | None) -> bool | None:
        if step is None or self._run is None or step not in self._covered.get(goal, ()):
            return None
        return self._monitor.judge(self._run, goal, step)

    def _bounds(self) -> Tree:
        given, bounds = self._document.data["bounds"], self._document.bounds
        same = {name: getattr(bounds, name) for name in ("length", "lower", "gap", "minimal")}
        same |= {name: given.get(name) for name in ("basis", "k_reached")}
        if self._run is None:
            return same | {"k_met": None}
        places = sorted(
            {0, self._run.length, *self._hits.values(), *(k for steps in self._covered.values() for k in steps)}
        )
        return same | {"k_met": max((b - a for a, b in pairwise(places)), default=0)}

    def _claims(self) -> Tree:
        """What the result rests on; which invariants are proved is looked at where the bound rests on them."""
        controller, said = self._controller, self._document.claims
        config, system = controller.project.config, controller.system
        found = []
        if controller.rules or config.at_most_one or config.exactly_one or config.ranges:
            found.append("input assumptions of the project")
        if config.assumption and controller.model.program.function(config.assumption) is not None:
            found.append(f"input assumption {config.assumption}()")
        for condition in system.invariants:
            proved, unproved = (
                f"invariant proved inductive: {condition.name}",
                f"invariant not proved, not used: {condition.name}",
            )
            found.append(unproved if unproved in said else proved)
        found.sort(key=lambda text: "not proved" in text)
        named = only_named(controller.model)
        if named:
            found.append(f"inputs given no values but those that the type names: {', '.join(named)}")
        if system.chosen:
            found.append(f"start values chosen by the tester: {', '.join(system.chosen)}")
        left = [var.name for var in system.state if var.init is None and var.name not in system.chosen]
        relies = f"start values left open by init: {', '.join(left)}"
        if relies in said:  # the check of open start values says so
            found.append(relies)
        if system.hold > 1:
            found.append(f"bounds and proofs speak of runs that hold inputs for {system.hold} ticks")
        covered = sum(goal.verdict == COVERED for goal in self._document.goals)
        if self._document.chain is not None and covered < len(self._document.goals):
            found.append(bounds_claim(covered, len(self._document.goals)))
        return [*found, f"overlap {self._document.settings.overlap}"]

    def _chain(self) -> Tree:
        given, run = self._document.data["chain"], self._run
        if given is None or run is None:
            return None
        known = ((goal, step) for goal, step in self._hits.items() if goal in self._setting.by_name)
        hits = [Hit(goal, step, self._held(goal, step)) for goal, step in known]
        chain = Chain(run, tuple(self._hits), tuple(hits))
        return {
            "length": run.length,
            "order": list(self._hits),
            "hits": [{"goal": hit.goal, "step": hit.step, "consequent_held": hit.consequent_held} for hit in hits],
            "failures": _in_order_of(given.get("failures"), self.failures),
            "violations": _in_order_of(given.get("violations"), self.violations),
            "initial": start_record(self._controller.system, chain),
            "steps": ChainRows(self._controller.system, chain, self._controller.goals),
        }

    @cached_property
    def failures(self) -> list[Tree]:
        """All steps at which a consequent does not hold, be it for a goal's own occurrence or for another one."""
        if self._run is None:
            return []
        asked = [goal for goal in self._controller.goals if goal.consequent is not None and goal.name in self._hits]
        violations = [violation(goal, {var.name for var in self._controller.system.inputs}) for goal in asked]
        covered = Monitor(violations).covered(self._run)
        return [{"goal": goal.name, "step": step} for goal in asked for step in covered[violation_name(goal.name)]]

    @cached_property
    def violations(self) -> list[Tree]:
        """All assertions of the program that fail, each with its step."""
        run, simulator = self._run, Simulator(self._controller.system)
        if run is None:
            return []
        return [
            {"assertion": f"{condition.where}: {condition.name}" if condition.where else condition.name, "step": step}
            for step, condition in simulator.all_violated(run)
        ]


def test_of(system: TransitionSystem, goal: str, given: Tree, where: Location) -> Tree:
    """The test that a goal has of its own, its values written as they are in a file. InputRefused if damaged."""
    if given is None:
        return None
    test = read_test(given, goal, system, where)
    chosen = [var for var in system.state if var.name in system.chosen]
    return {
        "length": len(test.inputs),
        "chosen": shown(chosen, {**dict.fromkeys(system.chosen, 0), **test.initial}),
        "inputs": [shown(system.inputs, values) for values in test.inputs],
    }


def settings_of(controller: Controller, given: Tree) -> Tree:
    """The settings as they should be; those that are informative, and the overlap, as they are ``given``."""
    hold = controller.system.hold
    return {
        "goals": [goal.name for goal in controller.goals],
        "coverage": controller.coverage,
        "final": controller.final_text or None,
        **({"hold": hold} if hold > 1 else {}),
        "overlap": given["overlap"],
        **{name: given.get(name) for name in SEARCH},
    }


def _entry(data: Tree, *names: str) -> Tree:
    """The entry of ``data`` under ``names``, one below the other; None where there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data


def _in_order_of(given: Tree, found: list[Tree]) -> list[Tree]:
    """``found`` in the order of ``given``, where these are the same but for the folders of sources."""

    def key(one: Tree) -> str:
        return re.sub(r"(?<='assertion': ')[^:']*/", "", repr(one))

    same = isinstance(given, list) and sorted(map(key, given)) == sorted(map(key, found))
    return given if same else found


def _certificate(document: Document) -> Iterator[str]:
    """Where the certificate has other fields, or fields of another kind, than a certificate has."""
    proof = document.certificate
    if proof is None:
        return
    data = document.data["certificate"]
    yield from differences(certificate.as_data(proof), data, "certificate")
    if proof.refuted[0] > proof.refuted[1]:
        yield f"certificate.refuted: from {proof.refuted[0]} to {proof.refuted[1]}"
    yield from (
        f"certificate.formulas.{name}: it is no invariant" for name in proof.formulas if name not in proof.invariants
    )


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
    elif type(expected) is not type(given) or (expected != given and not (_is_nan(expected) and _is_nan(given))):
        yield f"{path}: the file says {given!r}, it is {expected!r}"


def _is_list(value: Tree) -> bool:
    """Whether ``value`` is a list; long ones are made, or read, item by item."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and isnan(value)
