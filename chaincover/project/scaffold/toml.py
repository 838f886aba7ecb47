"""The words of a project file: texts, lists and comments of TOML."""

from __future__ import annotations


def quoted(text: str) -> str:
    """A TOML string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def comments(text: str) -> list[str]:
    """Text of any length and number of lines as comments."""
    return [f"# {line}".rstrip() for line in text.splitlines()]


def toml_list(key: str, items: list[str]) -> list[str]:
    """A TOML list, on one line where that has 120 characters at most."""
    line = f"{key} = [{', '.join(items)}]"
    return [line] if len(line) <= 120 else [f"{key} = [", *(f"    {item}," for item in items), "]"]
