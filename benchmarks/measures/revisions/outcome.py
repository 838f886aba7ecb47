"""What ``generate`` and ``verify`` have written, read without the code of either revision."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run has found. ``length`` and ``lower`` are those of the chain, or of all its chains together."""

    length: int | None
    lower: int
    minimal: bool
    verdicts: dict[str, str]
    chains: int
    stopped_by: str


def facts(folder: Path) -> Facts | None:
    """What is in ``folder``; None where there is nothing."""
    if (folder / "chains.json").exists():
        document = json.loads((folder / "chains.json").read_text())
        bounds, chains = document.get("bounds", document), len(document["chains"])
    elif (folder / "chain.json").exists():
        document = json.loads((folder / "chain.json").read_text())
        bounds, chains = document["bounds"], int(document["chain"] is not None)
    else:
        return None
    goals = document.get("goals") or document["verdicts"]
    verdicts = {goal.get("name") or goal["goal"]: goal["verdict"] for goal in goals}
    length = bounds["length"] if chains else None
    minimal = length is not None and bool(bounds["minimal"])
    return Facts(length, bounds["lower"] or 0, minimal, verdicts, chains, str(document["stopped_by"] or ""))


def verified(file: Path) -> dict[str, str]:
    """What ``verify`` said of each check; where several chains are checked, each further time with a number."""
    try:
        document = json.loads(file.read_text())
    except (OSError, json.JSONDecodeError):
        return {}
    found: dict[str, str] = {}
    for check in checks(document):
        name, number = check["check"], 2
        while name in found:
            name, number = f"{check['check']} {number}", number + 1
        found[name] = check["verdict"]
    return found


def checks(document: Any) -> list[dict[str, Any]]:
    """All checks, at whatever depth they are."""
    if isinstance(document, list):
        return [check for entry in document for check in checks(entry)]
    if not isinstance(document, dict):
        return []
    if "check" in document and "verdict" in document:
        return [document]
    return [check for entry in document.values() for check in checks(entry)]
