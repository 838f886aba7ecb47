"""``chain.json`` read as claims, each of its parts with its type checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bmc.errors import InputRefused, Location
from chaincover import certificate
from chaincover.certificate import Certificate
from chaincover.formats.chain_file import SCHEMA, recorded_hold

T = TypeVar("T")

CHAIN_FILE = "chain.json"
CHAINS_FILE = "chains.json"
OPEN_STARTS = "start values left open by init"
"""How the claim begins that a chain may depend on start values that nobody chooses."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source file as it was: its name, and the SHA-256 of its bytes and of its preprocessed code."""

    file: str
    sha256: str
    preprocessed_sha256: str


@dataclass(frozen=True, slots=True)
class GoalClaim:
    """What the document says of one goal; ``step`` is None if not covered, ``generated`` its criterion or ''."""

    name: str
    property: str
    verdict: str
    step: int | None
    detail: str
    generated: str = ""


@dataclass(frozen=True, slots=True)
class HitClaim:
    """A goal credited at a step."""

    goal: str
    step: int
    consequent_held: bool | None


@dataclass(frozen=True)
class Document:
    """One ``chain.json``: settings, claims about the chain, claims about shorter ones. Lengths are in steps.

    ``criteria`` are those that generated goals. ``hold``: inputs change only every so many steps.
    """

    place: Path
    name: str
    sources: tuple[Source, ...]
    defines: tuple[tuple[str, str], ...]
    final: str | None
    overlap: str
    goals: tuple[GoalClaim, ...]
    length: int
    steps: int
    order: tuple[str, ...]
    hits: tuple[HitClaim, ...]
    violations: int
    relies_on_starts: bool
    bound_length: int | None
    lower: int
    minimal: bool
    gap: float | None
    certificate: Certificate | None
    criteria: tuple[str, ...] = ()
    hold: int = 1

    @property
    def where(self) -> Location:
        """The file."""
        return Location(str(self.place))


def chain_place(path: str) -> Path:
    """The file that ``path`` names: itself, or the ``chain.json`` (else ``chains.json``) in that folder."""
    place = Path(path)
    if not place.is_dir():
        return place
    several = place / CHAINS_FILE
    return several if several.exists() and not (place / CHAIN_FILE).exists() else place / CHAIN_FILE


def read_json(place: Path) -> dict[str, Any]:
    """The object in a JSON file. InputRefused, with its place, if there is none."""
    where = Location(str(place))
    try:
        data = json.loads(place.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputRefused(f"cannot read the chain: {reason}", where, "name chain.json or its folder") from None
    except json.JSONDecodeError as error:
        here = Location(str(place), error.lineno, error.colno)
        raise InputRefused(f"not JSON: {error.msg}", here, "generate it again") from None
    except RecursionError:
        raise InputRefused("not JSON of ours: it is nested too deeply", where, "generate it again") from None
    if not isinstance(data, dict):
        raise InputRefused("this is no JSON object", where, "write it with 'chaincover generate'")
    return data


def read_document(place: Path) -> Document:
    """The claims of a ``chain.json``. InputRefused, with its place, if it cannot be read or holds no chain."""
    data = read_json(place)
    where = Location(str(place))
    if data.get("schema") != SCHEMA:
        raise InputRefused(f"this is no chain of the schema '{SCHEMA}'", where, "write it with 'chaincover generate'")
    if data.get("chain") is None:
        raise InputRefused("this result holds no chain", where, "generate one first")
    try:
        return _document(place, data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputRefused(f"the chain is damaged: {error!r}", where, "generate it again") from None


def _document(place: Path, data: dict[str, Any]) -> Document:
    chain, bounds, controller = data["chain"], data["bounds"], data["controller"]
    final, proof = data["settings"]["final"], data.get("certificate")
    gap = bounds["gap"]
    return Document(
        place=place,
        name=str(controller["name"]),
        sources=tuple(
            Source(str(s["file"]), str(s["sha256"]), str(s["preprocessed_sha256"])) for s in controller["sources"]
        ),
        defines=tuple((str(name), str(value)) for name, value in controller["defines"].items()),
        final=None if final is None else str(final),
        overlap=_one_of(data["settings"]["overlap"], "allow", "forbid"),
        goals=tuple(
            GoalClaim(
                str(g["name"]),
                str(g["property"]),
                str(g["verdict"]),
                _step(g["step"]),
                str(g["detail"]),
                str(g.get("generated") or ""),
            )
            for g in data["goals"]
        ),
        length=whole(chain["length"]),
        steps=len(chain["steps"]),
        order=tuple(str(name) for name in chain["order"]),
        hits=tuple(HitClaim(str(h["goal"]), whole(h["step"]), h["consequent_held"]) for h in chain["hits"]),
        violations=len(chain["violations"]),
        relies_on_starts=any(str(claim).startswith(OPEN_STARTS) for claim in data["claims"]),
        bound_length=_step(bounds["length"]),
        lower=whole(bounds["lower"]),
        minimal=_one_of(bounds["minimal"], True, False),
        gap=None if gap is None else float(gap),
        certificate=None if proof is None else certificate.from_data(proof),
        criteria=tuple(str(text) for text in data["settings"].get("coverage", ())),
        hold=recorded_hold(data["settings"]),
    )


def whole(value: Any) -> int:
    """``value``, which has to be a whole number. TypeError if not."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _step(value: Any) -> int | None:
    return None if value is None else whole(value)


def _one_of(value: Any, *allowed: T) -> T:
    if value not in allowed:
        raise ValueError(f"{value!r} is none of {allowed}")
    return allowed[allowed.index(value)]
