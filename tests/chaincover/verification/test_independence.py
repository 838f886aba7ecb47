"""``chaincover.verification`` imports nothing of the search but makers of witnesses: each import is looked at."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import chaincover

ROOM = Path(str(chaincover.__file__)).parent / "verification"
ALLOWED = (
    "bmc.errors",
    "bmc.ending",
    "bmc.limits",
    "bmc.records",
    "bmc.formulas",
    "bmc.floats",
    "bmc.evaluation",
    "bmc.system",
    "bmc.native",
    "bmc.engines",
    "properties",
    "chaincover.certificate",
    "chaincover.chain",
    "chaincover.claims",
    "chaincover.options",
    "chaincover.problem",
    "chaincover.result",
    "chaincover.subject",
    "chaincover.weights",
    "chaincover.formats",
    "chaincover.notebook",
    "chaincover.project",
    "chaincover.replaying",
    "chaincover.target",
    "chaincover.verdicts",
    "chaincover.verification",
)
"""docs/reference/verify.md names these."""
MAKERS = {"orders": ("chaincover.orderings.duals.order_proof", "chaincover.orderings.protocol")}
"""By module of the room: what makes the witnesses that it checks (ADR 25)."""
OWN = ("bmc", "properties", "chaincover", "benchmarks")


def imported(text: str) -> set[str]:
    """The modules of this repository that a source text imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] in OWN}


def strange(text: str, makers: tuple[str, ...] = ()) -> list[str]:
    """Those that are not allowed."""
    rooms = (*ALLOWED, *makers)
    return sorted(
        name for name in imported(text) if not any(name == room or name.startswith(f"{room}.") for room in rooms)
    )


@pytest.mark.parametrize("module", sorted(ROOM.glob("*.py")), ids=lambda path: path.stem)
def test_nothing_of_the_search_is_imported(module: Path) -> None:
    assert strange(module.read_text(encoding="utf-8"), MAKERS.get(module.stem, ())) == []


def test_a_forbidden_import_would_be_found() -> None:
    lines = ["def f():", "    from bmc.explicit import enumeration", "import chaincover.graph.edges"]
    text = "\n".join([*lines, "from chaincover import pipeline"])
    assert strange(text) == ["bmc.explicit.enumeration", "chaincover.graph.edges", "chaincover.pipeline"]
    assert strange("from chaincover.stages import Stage") == ["chaincover.stages.Stage"]
    assert strange("from bmc.system.transition import Run\nimport numpy") == []


def test_the_documentation_names_what_is_allowed() -> None:
    page = Path(str(chaincover.__file__)).parents[1] / "docs" / "reference" / "verify.md"
    text = page.read_text(encoding="utf-8")
    rooms = (*ALLOWED, *(".".join(maker.split(".")[:3]) for makers in MAKERS.values() for maker in makers))
    missing = [room for room in rooms if f"`{room}`" not in text]
    assert missing == []
