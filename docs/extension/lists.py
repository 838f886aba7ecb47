"""Lists for the reference, as Markdown, made from the code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import chaincover
from chaincover.cli.main import EXIT_CODES
from chaincover.project.project_file import KEYS


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines) + "\n"


def exit_codes() -> str:
    """What each exit code means, and what to do."""
    return table(("code", "meaning", "what to do"), [(code, *told) for code, told in EXIT_CODES.items()])


def project_keys() -> str:
    """The keys of a project file, table by table."""
    parts = []
    for name, keys in KEYS.items():
        heading = {"": "At the top of the file", "property": "`[[property]]`, any number of times"}.get(
            name, f"`[{name}]`"
        )
        parts += [
            f"### {heading}\n",
            table(("key", "what it says"), [(f"`{key}`", told) for key, told in keys.items()]),
        ]
    return "\n".join(parts)


def public_names() -> str:
    """The public names, each with its signature and docstring."""
    lines = ["```{eval-rst}", ".. currentmodule:: chaincover", ""]
    for name in chaincover.__all__:
        thing = getattr(chaincover, name)
        kind = "autoclass" if isinstance(thing, type) else "autofunction"
        lines += [f".. {kind}:: {name}", *(["   :members:"] if kind == "autoclass" else []), ""]
    return "\n".join([*lines, "```"])


MAKERS: dict[str, Callable[[], str]] = {
    "exit-codes": exit_codes,
    "project-keys": project_keys,
    "public-names": public_names,
}
