"""What failed, and what may be undefined, as SARIF 2.1.0 (OASIS): for code hosts and editors that show findings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bmc.records import dataclass
from chaincover.formats.output import to_json
from chaincover.formats.writer import tool_version
from chaincover.report.html.finding import Finding, Part
from chaincover.report.html.goals import findings_of
from chaincover.report.html.kit import FORBIDDEN
from chaincover.report.html.saved import Saved, safely
from chaincover.report.html.summary import name_of

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LINK = re.compile(r"\[(?=[^\]]*\]\()")
"""What begins a link in a message of SARIF."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of finding: its name in SARIF, what it says of the program, and its ``level`` and ``kind`` there."""

    name: str
    text: str
    level: str
    kind: str = "fail"


RULES = {
    "requirement": Rule("requirement-fails", "A requirement can fail, or failed on a run.", "error"),
    "assertion": Rule("assertion-fails", "An assertion of the program failed on a chain.", "error"),
    "disagreement": Rule("model-differs", "The model and the compiled original differ.", "error"),
    "deviation": Rule("target-deviates", "A target did otherwise than the model.", "error"),
    "undefined": Rule("undefined-behaviour", "A step may have undefined behaviour.", "warning"),
    "undecided": Rule("undefined-behaviour-undecided", "Whether it can be undefined was not decided.", "none", "open"),
}
"""By kind of finding. Goals that are not covered are no findings about a place in the program: they are left out."""


def report(saved: Saved) -> tuple[str, Sequence[str]]:
    """A log with one run as JSON, a result for each finding, and what is missing in it, a sentence each.

    It depends on ``saved`` and the current folder alone.

    Files are told relative to the current folder where they are in it, as code hosts want them.
    """
    notes = [*saved.notes]
    found = safely("the list of findings", lambda: findings_of(saved), notes) or []
    run = {
        "tool": {"driver": {"name": "ChainCover", "version": tool_version(), "rules": [*map(_rule, RULES.values())]}},
        "automationDetails": {"id": f"chaincover/{name_of(saved)}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [{"level": "note", "message": {"text": note}} for note in notes],
            }
        ],
        "artifacts": safely("the list of sources", lambda: [*_artifacts(saved)], notes) or [],
        "results": [_result(each, saved) for each in found if each.kind in RULES],
    }
    return to_json(_clean({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})), notes


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.text},
        "defaultConfiguration": {"level": rule.level},
    }


def _artifacts(saved: Saved) -> Iterator[dict[str, Any]]:
    """The sources with the hashes of their bytes."""
    places = {source.file: source.place for source in saved.sources}
    for each in (saved.first.get("controller") or {}).get("sources", ()) if saved.chains else ():
        uri = _uri(places.get(each["file"]) or Path(each["file"]))
        yield {"location": {"uri": uri}, "hashes": {"sha-256": each["sha256"]}}


def _result(finding: Finding, saved: Saved) -> dict[str, Any]:
    """A finding with where to look."""
    rule = RULES[finding.kind]
    values = [
        {"variable": part.variable, "step": part.step, "actual": part.actual, "expected": part.expected}
        for part in finding.parts
    ]
    reads = [f"{part.variable} is {part.actual} at step {part.step}{_wanted(part)}" for part in finding.parts]
    told = [f"{finding.title}.", finding.text, f"{'; '.join(reads)}." if reads else "", finding.property]
    known = {"step": finding.step, "values": values, "property": finding.property}
    return {
        "ruleId": rule.name,
        "ruleIndex": [*RULES].index(finding.kind),
        "kind": rule.kind,
        "level": rule.level,
        "message": {"text": _LINK.sub(r"\\[", " ".join(filter(None, told)))},
        "locations": [*_locations(finding, saved)],
        "partialFingerprints": {"chaincover/v1": f"{rule.name}: {finding.title}"},
        "properties": {name: value for name, value in known.items() if value not in (None, [], "")},
    }


def _wanted(part: Part) -> str:
    return f", expected {part.expected}" if part.expected else ""


def _locations(finding: Finding, saved: Saved) -> Iterator[dict[str, Any]]:
    """The place of undefined behaviour; else the function of the property, or the step function, where it is known."""
    if finding.kind in ("undefined", "undecided"):
        if finding.about:
            yield {"physicalLocation": _of_text(finding.about)}
        return
    controller = saved.first.get("controller")
    step = str(controller.get("step", "")) if isinstance(controller, Mapping) else ""
    logical = [{"fullyQualifiedName": finding.about, "kind": "member"}] if finding.about else []
    named = {"logicalLocations": logical} if logical else {}
    for function in filter(None, (finding.about, step)):
        for source in saved.sources:
            line = _defined(function, source.text or "")
            if line and source.place:
                yield {"physicalLocation": _physical(_uri(source.place), line), **named}
                return
    first = next((_uri(source.place or Path(source.file)) for source in saved.sources), None)
    if first is not None:
        yield {"physicalLocation": {"artifactLocation": {"uri": first}}, **named}
    elif named:
        yield named


def _of_text(place: str) -> dict[str, Any]:
    """A place that is written as ``file:line:column``."""
    found = re.fullmatch(r"(.*?)(?::(\d+))?(?::(\d+))?", place, re.S)
    assert found is not None
    return _physical(_uri(Path(found[1])), int(found[2] or 0), int(found[3] or 0))


def _physical(uri: str, line: int, column: int = 0) -> dict[str, Any]:
    region = {name: number for name, number in (("startLine", line), ("startColumn", column)) if number}
    return {"artifactLocation": {"uri": uri}, **({"region": region} if line else {})}


def _defined(function: str, text: str) -> int:
    """The line in which a C function of this name is defined, 0 where none is."""
    if not re.fullmatch(r"\w+", function):
        return 0
    found = re.search(rf"\b{function}\s*\([^;{{}}]*?\)\s*\{{", text)
    return 0 if found is None else text.count("\n", 0, found.start()) + 1


def _uri(place: Path) -> str:
    """The address of a file: relative to the current folder where it lies below that, as code hosts want it."""
    if not place.is_absolute():
        return _quoted(place)
    here = Path(os.getcwd())
    return _quoted(place.relative_to(here)) if place.is_relative_to(here) else place.as_uri()


def _quoted(place: Path) -> str:
    from urllib.parse import quote

    return quote(place.as_posix(), errors="replace")


def _clean(data: Any) -> Any:
    """``data`` without characters that no text may hold."""
    if isinstance(data, str):
        return FORBIDDEN.sub("\ufffd", data)
    if isinstance(data, dict):
        return {name: _clean(value) for name, value in data.items()}
    return [*map(_clean, data)] if isinstance(data, list) else data
