"""``chain.json`` and ``chains.json`` read as claims, each of their parts with its type checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from bmc.errors import InputRefused, Location
from bmc.records import dataclass
from chaincover import certificate
from chaincover.certificate import Certificate
from chaincover.chain import Verdict
from chaincover.claims import Said
from chaincover.formats.chain_file import (
    CHAINS_SCHEMA,
    recorded_hold,
    refuse_other_schema,
)
from chaincover.formats.damage import damage
from chaincover.formats.result_file import read_result

T = TypeVar("T")

DAMAGED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)
"""What reading data of another shape raises."""
CHAIN_FILE = "chain.json"
CHAINS_FILE = "chains.json"
PROVED = "invariant proved inductive: "
"""How the claim begins that an invariant of the program is kept by every step."""
UNPROVED = "invariant not proved, not used: "
"""How it is said that one is not."""
OPEN_STARTS = "start values left open by init"
"""How the claim begins that a chain may depend on start values that nobody chooses."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source file as it was: its name, and the SHA-256 of its bytes and of its preprocessed code."""

    file: str
    sha256: str
    preprocessed_sha256: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What the file was made with. ``criteria`` generated goals; ``hold``: inputs change only every so many steps."""

    defines: tuple[tuple[str, str], ...]
    final: str | None
    overlap: str
    criteria: tuple[str, ...]
    hold: int


@dataclass(frozen=True, slots=True)
class GoalClaim:
    """What the document says of one goal; ``step`` is None if not covered, ``generated`` its criterion or ''.

    ``test``: a run of its own that is said to cover the goal, as it stands in the file; ``long_test``: one that has
    more steps than are stored.
    """

    name: str
    property: str
    verdict: str
    step: int | None
    detail: str
    generated: str = ""
    test: dict[str, Any] | None = None
    long_test: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class HitClaim:
    """A goal credited at a step."""

    goal: str
    step: int
    consequent_held: bool | None


@dataclass(frozen=True, slots=True)
class ChainClaim:
    """The chain: ``length`` as told, ``steps`` that it has, the goals credited in their ``order``."""

    length: int
    steps: int
    order: tuple[str, ...]
    hits: tuple[HitClaim, ...]
    violations: int
    relies_on_starts: bool


@dataclass(frozen=True, slots=True)
class BoundsClaim:
    """What is said of the length of any chain through the same goals."""

    length: int | None
    lower: int
    minimal: bool
    gap: float | None


@dataclass(frozen=True, slots=True)
class RulingClaim:
    """What is said of a property with a consequent; ``test``: a run that is said to violate it, as it stands there.

    ``step``: where the violation begins; ``shortest``: whether no shorter run is said to violate it.
    """

    goal: str
    ruling: str
    detail: str
    shortest: bool | None
    step: int | None
    test: dict[str, Any] | None


@dataclass(frozen=True)
class RulingsClaim:
    """What is said of requirements, and what that rests on."""

    rulings: tuple[RulingClaim, ...]
    certificate: Certificate | None


@dataclass(frozen=True)
class Document:
    """One ``chain.json``: settings, verdicts, a chain if there is one, claims about shorter ones; all its ``data``.

    ``several``: it is looked at together with the summary that names it.
    """

    place: Path
    name: str
    sources: tuple[Source, ...]
    settings: Settings
    goals: tuple[GoalClaim, ...]
    chain: ChainClaim | None
    bounds: BoundsClaim
    certificate: Certificate | None
    requirements: RulingsClaim | None = None
    claims: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    several: bool = False

    @property
    def where(self) -> Location:
        """The file."""
        return Location(str(self.place))

    @property
    def credited(self) -> list[str]:
        """The goals that the chain is credited with, none without one."""
        return [] if self.chain is None else [hit.goal for hit in self.chain.hits]

    @property
    def said(self) -> Said:
        """What it says of runs."""
        verdicts = [Verdict(goal.name, goal.verdict, goal.step, goal.detail) for goal in self.goals]
        covered = None if self.chain is None else self.credited
        return Said(verdicts, covered, self.certificate, self.bounds.lower, self.data.get("settings", {}))


@dataclass(frozen=True, slots=True)
class Entry:
    """What the summary says of one chain."""

    file: str
    length: int
    lower: int
    minimal: bool
    goals: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """``chains.json``: ``lower`` is the bound on all steps (0: none), ``conflicts`` goals said not to fit together;
    ``at_all``: for each conflict, whether that is said of all runs. ``certificate`` proves number and bound."""

    place: Path
    entries: tuple[Entry, ...]
    length: int
    lower: int
    minimal: bool
    number_minimal: bool
    conflicts: tuple[tuple[str, ...], ...]
    at_all: tuple[bool, ...]
    verdicts: tuple[GoalClaim, ...]
    certificate: Certificate | None = None
    requirements: RulingsClaim | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


def chain_place(path: str) -> Path:
    """The file that ``path`` names: itself, or the ``chain.json`` (else ``chains.json``) in that folder."""
    place = Path(path)
    if not os.path.isdir(path):
        return place
    several = place / CHAINS_FILE
    return several if several.exists() and not (place / CHAIN_FILE).exists() else place / CHAIN_FILE


def read_document(place: Path) -> Document:
    """The claims of a ``chain.json``. InputRefused, with its place, if it cannot be read."""
    data = _read_json(place)
    refuse_other_schema(data, Location(str(place)))
    try:
        return _document(place, data)
    except DAMAGED as error:
        raise InputRefused(
            f"the chain is damaged: {damage(error, data, 'chain')}", Location(str(place)), "generate it again"
        ) from None


def read_summary(place: Path) -> Summary:
    """The claims of a ``chains.json``. InputRefused, with its place, if it cannot be read."""
    data, where = _read_json(place), Location(str(place))
    refuse_other_schema(data, where, CHAINS_SCHEMA)
    try:
        return _summary(place, data)
    except DAMAGED as error:
        raise InputRefused(
            f"the summary is damaged: {damage(error, data, 'chains')}", where, "generate it again"
        ) from None


def _read_json(place: Path) -> dict[str, Any]:
    """The object in a JSON file. InputRefused, with its place, if there is none."""
    where = Location(str(place))
    data = read_result(place, "the chain", "name chain.json or its folder")
    if not isinstance(data, dict):
        raise InputRefused("this is no JSON object", where, "write it with 'chaincover generate'")
    return data


def _document(place: Path, data: dict[str, Any]) -> Document:
    chain, bounds, subject, settings = data["chain"], data["bounds"], data["controller"], data["settings"]
    proof, gap = data.get("certificate"), bounds["gap"]
    _check_goals(data["goals"], chain, proof)
    claims = tuple(str(claim) for claim in data["claims"])
    relies = any(claim.startswith(OPEN_STARTS) for claim in claims)
    return Document(
        place=place,
        name=str(subject["name"]),
        sources=tuple(
            Source(str(s["file"]), str(s["sha256"]), str(s["preprocessed_sha256"])) for s in subject["sources"]
        ),
        settings=_settings(settings, subject["defines"]),
        goals=tuple(_goal(goal, str(goal["name"])) for goal in data["goals"]),
        chain=None if chain is None else _chain(chain, relies),
        bounds=BoundsClaim(
            length=_step(bounds["length"]),
            lower=_whole(bounds["lower"]),
            minimal=_one_of(bounds["minimal"], True, False),
            gap=None if gap is None else _finite(gap),
        ),
        certificate=None if proof is None else certificate.from_data(proof),
        requirements=_rulings(data["requirements"]),
        claims=claims,
        data=data,
    )


def _check_goals(goals: Sequence[Any], chain: dict[str, Any] | None, proof: dict[str, Any] | None) -> None:
    """ValueError unless ``goals`` have one entry for each name, and for each goal of ``chain`` and ``proof``."""
    names = [str(goal["name"]) for goal in goals]
    if len(set(names)) < len(names):
        raise ValueError(f"goals more than once: {', '.join(sorted({n for n in names if names.count(n) > 1}))}")
    told = [] if chain is None else [str(hit["goal"]) for hit in chain["hits"]]
    told += [] if proof is None else proof["goals"]
    unknown = dict.fromkeys(name for name in told if name not in names)
    if unknown:
        raise ValueError(f"goals without an entry: {', '.join(map(str, unknown))}")


def _settings(data: dict[str, Any], defines: dict[str, Any]) -> Settings:
    final = data["final"]
    return Settings(
        defines=tuple((str(name), str(value)) for name, value in defines.items()),
        final=None if final is None else str(final),
        overlap=_one_of(data["overlap"], "allow", "forbid"),
        criteria=tuple(str(text) for text in data.get("coverage", ())),
        hold=recorded_hold(data),
    )


def without_chain(summary: Summary) -> Document:
    """What a summary that names no chain says, as a document; it names neither sources nor macros.

    InputRefused, with its place, if its settings cannot be read.
    """
    try:
        settings = _settings(summary.data["settings"], {})
    except DAMAGED as error:
        text = f"the summary is damaged: {damage(error, summary.data, 'chains')}"
        raise InputRefused(text, Location(str(summary.place)), "generate it again") from None
    return Document(
        place=summary.place,
        name=str(summary.data.get("controller")),
        sources=(),
        settings=settings,
        goals=summary.verdicts,
        chain=None,
        bounds=BoundsClaim(None, 0, False, None),
        certificate=None,
        data=summary.data,
        several=True,
    )


def _chain(data: dict[str, Any], relies_on_starts: bool) -> ChainClaim:
    return ChainClaim(
        length=_whole(data["length"]),
        steps=len(data["steps"]),
        order=tuple(str(name) for name in data["order"]),
        hits=tuple(HitClaim(str(h["goal"]), _whole(h["step"]), h["consequent_held"]) for h in data["hits"]),
        violations=len(data["violations"]),
        relies_on_starts=relies_on_starts,
    )


def _summary(place: Path, data: dict[str, Any]) -> Summary:
    return Summary(
        place=place,
        entries=tuple(
            Entry(str(c["file"]), _whole(c["length"]), _whole(c["lower"]), bool(c["minimal"]), tuple(c["goals"]))
            for c in data["chains"]
        ),
        length=_whole(data["length"]),
        lower=_whole(data.get("lower", 0)),
        minimal=bool(data.get("minimal", False)),
        number_minimal=bool(data["number_minimal"]),
        conflicts=tuple(tuple(str(name) for name in c["goals"]) for c in data["conflicts"]),
        at_all=tuple(bool(c["at_all"]) for c in data["conflicts"]),
        verdicts=tuple(_goal({"step": None, "property": "", **v}, str(v["goal"])) for v in data["verdicts"]),
        certificate=None if data["certificate"] is None else certificate.from_data(data["certificate"], True),
        requirements=_rulings(data["requirements"]),
        data=data,
    )


def _rulings(data: dict[str, Any] | None) -> RulingsClaim | None:
    if data is None:
        return None
    rulings = tuple(
        RulingClaim(
            goal=str(each["goal"]),
            ruling=str(each["ruling"]),
            detail=_text(each["detail"]),
            shortest=_one_of(each["shortest"], None, True, False),
            step=_step(each["step"]),
            test=_test(each["test"], str(each["goal"])),
        )
        for each in data["rulings"]
    )
    proof = data["certificate"]
    return RulingsClaim(rulings, None if proof is None else certificate.from_data(proof))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _goal(data: dict[str, Any], name: str) -> GoalClaim:
    verdict, detail = str(data["verdict"]), _text(data["detail"])
    generated = str(data.get("generated") or "")
    tests = _test(data.get("test"), name), _test(data.get("long_test"), name)
    return GoalClaim(name, str(data["property"]), verdict, _step(data["step"]), detail, generated, *tests)


def _test(value: Any, name: str) -> dict[str, Any] | None:
    """``value``, which has to be a test of the goal ``name``, or None. TypeError if not."""
    if value is not None and not isinstance(value, dict):
        raise TypeError(f"the test of '{name}' is no JSON object")
    return value


def _whole(value: Any) -> int:
    """``value``, which has to be a whole number. TypeError if not."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _step(value: Any) -> int | None:
    return None if value is None else _whole(value)


def _finite(value: Any) -> float:
    """``value``, which has to be a finite number. ValueError if not."""
    if not isinstance(value, float) or not isfinite(value):
        raise ValueError(f"{value!r} is no finite number")
    return value


def _one_of(value: Any, *allowed: T) -> T:
    if value not in allowed:
        raise ValueError(f"{value!r} is none of {allowed}")
    return allowed[allowed.index(value)]
