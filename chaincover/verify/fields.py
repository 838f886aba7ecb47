"""Every field of ``chain.json``: what follows from program, project and inputs is made again and compared.

Other checks look at what is claimed of all runs. What is left is informative: ``INFORMATIVE`` names it, as docs/verify.md
does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isnan
from typing import Any

from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover import certificate
from chaincover.chain import COVERED, STATUSES, Chain, Hit
from chaincover.formats.chain_file import SCHEMA, Stimulus, chain_rows, controller_record, start_record
from chaincover.project.load import Controller
from chaincover.verify.document import Document
from chaincover.verify.report import HOLDS, NOTE, WRONG, Line, limited
from chaincover.verify.setting import Setting
from properties.monitor import Monitor

FIELDS, PROJECT = "fields", "project"

INFORMATIVE = {
    "tool.version": "the version of ChainCover that wrote the file",
    "versions": "the versions of Python and of the libraries",
    "settings.bound": "how the chain was sought, as are the next eight",
    "settings.ordering": "",
    "settings.engine": "",
    "settings.effort": "",
    "settings.repair": "",
    "settings.max_length": "",
    "settings.time_limit": "",
    "settings.query_limit": "",
    "settings.memory_limit": "",
    "goals.detail": "the verdict in words",
    "bounds.basis": "in words, what the certificate has as facts",
    "bounds.k_reached": "how far the search went; no claim rests on it",
    "no_chain": "in words, why goals exclude each other; that they do is checked",
    "finished": "how the run ended, as are the next two",
    "stopped_by": "",
    "effort_used_up": "",
    "graph": "what the search knew of distances; those that a claim rests on are in the certificate",
    "dead_end": "in words, why no run goes on",
}
"""Fields of which nothing is checked, by their paths, each with the reason or '' where the one above says it."""

ELSEWHERE = (
    "controller.sources",
    "settings.overlap",
    "goals.verdict",
    "goals.test",
    "bounds.length",
    "bounds.lower",
    "bounds.gap",
    "bounds.minimal",
    "certificate",
)
"""Fields that checks of their own are about."""

Tree = Any


def fields(controller: Controller, document: Document, stimulus: Stimulus | None, setting: Setting) -> Line:
    """Every field that follows from the program, the project and the inputs of the chain, ``stimulus``, made again.

    ``setting`` is that of the whole program, with the overlap of the file.
    """
    expected = Expected(controller, document, stimulus, setting).document()
    faults = [*differences(expected, document.data), *_certificate(document)]
    return Line(
        FIELDS, WRONG if faults else HOLDS, "all others that are no mere information, made again", limited(faults)
    )


def project(controller: Controller, document: Document, all_goals: Sequence[str]) -> Line | None:
    """Where the project, with ``all_goals``, says otherwise than the settings of the file; None where it does not."""
    own, settings = controller.project, document.data["settings"]
    final = own.final or (f"{own.final_function}()" if own.final_function else "") or None
    pairs = (("final", final), ("overlap", own.overlap), ("bound", own.bound))
    notes = [
        f"{name}: the file has {settings[name]!r}, the project {value!r}"
        for name, value in pairs
        if settings[name] != value
    ]
    missing = [name for name in all_goals if name not in settings["goals"]]
    notes += [f"the file leaves out {', '.join(missing)}"] if missing else []
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
            "tool": {"name": "chaincover", "version": data["tool"]["version"]},
            "controller": controller_record(self._controller, data["controller"]["sources"]),
            "settings": self._settings(),
            "versions": data["versions"],
            "goals": self._goals(),
            "bounds": self._bounds(),
            "no_chain": None if everything and self._run is not None else data["no_chain"],
            **{name: data[name] for name in ("finished", "stopped_by", "effort_used_up")},
            "claims": self._claims(),
            "certificate": data["certificate"],
            "chain": self._chain(),
            "graph": data["graph"],
            **({"dead_end": data["dead_end"]} if "dead_end" in data else {}),
        }

    def _settings(self) -> Tree:
        given, controller = self._document.data["settings"], self._controller
        hold = controller.system.hold
        return {
            "goals": [goal.name for goal in controller.goals],
            "coverage": list(dict.fromkeys(criterion.text for criterion in controller.project.criteria)),
            "final": controller.final_text or None,
            **({"hold": hold} if hold > 1 else {}),
            "overlap": given["overlap"],
            **{
                name.removeprefix("settings."): given[name.removeprefix("settings.")]
                for name in INFORMATIVE
                if name.startswith("settings.")
            },
        }

    def _goals(self) -> Tree:
        given = {str(goal["name"]): goal for goal in self._document.data["goals"]}
        first: dict[tuple[int, int], str] = {}
        found = []
        for goal in self._controller.goals:
            alike = self._document.settings.overlap == "allow" or goal.length == 0
            one = first.setdefault((goal.antecedent.node_id(), goal.length), goal.name) if alike else goal.name
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
                    "test": own.get("test"),
                }
            )
        return found

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
        given = self._document.data["bounds"]
        same = {name: given[name] for name in ("length", "lower", "gap", "minimal", "basis", "k_reached")}
        if self._run is None:
            return same | {"k_met": None}
        places = sorted(
            {0, self._run.length, *self._hits.values(), *(k for steps in self._covered.values() for k in steps)}
        )
        return same | {"k_met": max((b - a for a, b in pairwise(places)), default=0)}

    def _claims(self) -> Tree:
        """What the result rests on; which invariants are proved is looked at where the bound rests on them."""
        controller, said = self._controller, self._document.data["claims"]
        config, system = controller.project.config, controller.system
        found = []
        if config.assume or config.at_most_one or config.exactly_one or config.ranges:
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
        if controller.model.named_values:
            found.append(
                f"inputs given no values but those that the type names: {', '.join(controller.model.named_values)}"
            )
        if system.chosen:
            found.append(f"start values chosen by the tester: {', '.join(system.chosen)}")
        left = [var.name for var in system.state if var.init is None and var.name not in system.chosen]
        relies = f"start values left open by init: {', '.join(left)}"
        if relies in said:  # the check of open start values says so
            found.append(relies)
        if system.hold > 1:
            found.append(f"bounds and proofs speak of runs that hold inputs for {system.hold} ticks")
        return [*found, f"overlap {self._document.settings.overlap}"]

    def _chain(self) -> Tree:
        given, run = self._document.data["chain"], self._run
        if given is None or run is None:
            return None
        hits = [Hit(goal, step, self._held(goal, step)) for goal, step in self._hits.items()]
        chain = Chain(run, tuple(self._hits), tuple(hits))
        return {
            "length": run.length,
            "order": list(self._hits),
            "hits": [{"goal": hit.goal, "step": hit.step, "consequent_held": hit.consequent_held} for hit in hits],
            "failures": _in_order_of(given["failures"], self.failures),
            "violations": _in_order_of(given["violations"], self.violations),
            "initial": start_record(self._controller.system, chain),
            "steps": chain_rows(self._controller.system, chain),
        }

    @property
    def failures(self) -> list[Tree]:
        """All steps at which a consequent does not hold."""
        return [
            {"goal": goal, "step": step}
            for goal, steps in self._covered.items()
            for step in steps
            if goal in self._hits and self._held(goal, step) is False
        ]

    @property
    def violations(self) -> list[Tree]:
        """All assertions of the program that fail, each with its step."""
        run, simulator = self._run, Simulator(self._controller.system)
        assert run is not None
        return [
            {"assertion": f"{condition.where}: {condition.name}" if condition.where else condition.name, "step": step}
            for step in range(run.length)
            for condition in simulator.violated(run.states[step], run.inputs[step])
        ]


def _in_order_of(given: Tree, found: list[Tree]) -> list[Tree]:
    """``found`` in the order of ``given``, where these are the same."""

    def key(one: Tree) -> str:
        return repr(one)

    same = isinstance(given, list) and sorted(map(key, given)) == sorted(map(key, found))
    return given if same else found


def _certificate(document: Document) -> Iterator[str]:
    """Where the certificate has other fields, or fields of another kind, than a certificate has."""
    proof, data = document.certificate, document.data["certificate"]
    if proof is None:
        return
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
    elif isinstance(expected, list | tuple) and isinstance(given, list):
        for place, (ours, theirs) in enumerate(zip(expected, given, strict=False)):
            yield from differences(ours, theirs, f"{path}[{place}]")
        if len(expected) != len(given):
            yield f"{path} has {len(given)} entries, not {len(expected)}"
    elif type(expected) is not type(given) or (expected != given and not (_is_nan(expected) and _is_nan(given))):
        yield f"{path}: the file says {given!r}, it is {expected!r}"


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and isnan(value)
