"""The K-reachability graph for Graphviz."""

from __future__ import annotations

from typing import Any


def to_dot(name: str, data: dict[str, Any]) -> str:
    """The graph's data (see ``results.graph_data``) as DOT: edges carry their weights in steps."""
    lines = [f"digraph {_quoted(name)} {{", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    for node in data["nodes"]:
        shape = " [shape=circle]" if node in ("init", "final", "end") else ""
        lines.append(f"  {_quoted(node)}{shape};")
    for edge in data["edges"]:
        lines.append(f"  {_quoted(edge['from'])} -> {_quoted(edge['to'])} [label={edge['weight']}];")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
