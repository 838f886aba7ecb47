"""Lists for the reference, as Markdown, made from the code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import chaincover
from benchmarks.bench import suite
from chaincover.cli.main import EXIT_CODES
from chaincover.project.project_file import KEYS


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines) + "\n"


def exit_codes() -> str:
    """What each exit code means, and what to do."""
    return table(("code", "meaning", "what to do"), [(code, *told) for code, told in EXIT_CODES.items()])


def keys_by_table(tables: Mapping[str, Mapping[str, str]], headings: Mapping[str, str]) -> str:
    """The keys of a TOML file, table by table; ``headings`` of tables other than ``[name]``."""
    parts = []
    for name, keys in tables.items():
        parts += [
            f"### {headings.get(name, f'`[{name}]`')}\n",
            table(("key", "what it says"), [(f"`{key}`", told) for key, told in keys.items()]),
        ]
    return "\n".join(parts)


def project_keys() -> str:
    """The keys of a project file."""
    return keys_by_table(KEYS, {"": "At the top of the file", "property": "`[[property]]`, any number of times"})


def suite_keys() -> str:
    """The keys of a suite and of the files that it names."""
    headings = {
        "": "Keys at the top of a suite",
        "models": "`[[models]]`, any number of times",
        "configurations": "`[[configurations]]`, any number of times; further keys are settings of the tool",
        "row": "`[[row]]` in the file that `rows` names",
        "source": "`[[source]]` in the file that `sources` names",
    }
    return keys_by_table(suite.KEYS, headings)


def public_names() -> str:
    """The public names, each with its signature and docstring."""
    lines = ["```{eval-rst}", ".. currentmodule:: chaincover", ""]
    for name in chaincover.__all__:
        thing = getattr(chaincover, name)
        kind = "autoclass" if isinstance(thing, type) else "autofunction"
        lines += [f".. {kind}:: {name}", *(["   :members:"] if kind == "autoclass" else []), ""]
    return "\n".join([*lines, "```"])


SCHEMAS = Path(chaincover.__file__).parent / "formats" / "schemas"


def result_fields(file: str) -> str:
    """The fields of a result file, and of the records in it that have a name."""
    schema = json.loads((SCHEMAS / file).read_text(encoding="utf-8"))
    parts = [table(("field", "type", "what it holds"), list(_fields(schema)))]
    for name, record in schema.get("$defs", {}).items():
        if record.get("properties"):
            parts += [f"#### `{name}`\n", table(("field", "type", "what it holds"), list(_fields(record)))]
    return "\n".join(parts)


def _fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    for name, field in schema.get("properties", {}).items():
        inner = field.get("items") or field
        place = f"{path}{name}{'[]' if inner is not field else ''}"
        told = field.get("description", "")
        if "enum" in field:
            told += ": " + ", ".join(f"`{one}`" for one in field["enum"])
        yield f"`{place}`", _type(field), told
        yield from _fields(inner, f"{place}.")


def _type(field: dict[str, Any]) -> str:
    """The type of a field in words; a record that has a name is called by it."""
    if "$ref" in field:
        return f"`{field['$ref'].rpartition('/')[2]}`"
    if "anyOf" in field or "oneOf" in field:
        return " or ".join(_type(one) for one in field.get("anyOf") or field["oneOf"])
    if "const" in field:
        return f'`"{field["const"]}"`'
    kinds = field.get("type", "any value")
    words = " or ".join([kinds] if isinstance(kinds, str) else kinds).replace("object", "record")
    if "prefixItems" in field:
        return f"list of {', '.join(_type(one) for one in field['prefixItems'])}"
    if "items" in field and not field["items"].get("properties"):
        return f"list of {_type(field['items'])}"
    values = field.get("additionalProperties")
    return f"record of {_type(values)}" if isinstance(values, dict) else words.replace("array", "list")


MAKERS: dict[str, Callable[[], str]] = {
    "exit-codes": exit_codes,
    "project-keys": project_keys,
    "suite-keys": suite_keys,
    "public-names": public_names,
    "fields-of-chain": partial(result_fields, "chain.json"),
    "fields-of-chains": partial(result_fields, "chains.json"),
    "fields-of-run": partial(result_fields, "run.json"),
    "fields-of-coverage": partial(result_fields, "coverage.json"),
    "fields-of-judged": partial(result_fields, "judged.json"),
    "fields-of-judgements": partial(result_fields, "judgements.json"),
    "fields-of-compare": partial(result_fields, "compare.json"),
    "fields-of-export": partial(result_fields, "export.json"),
    "fields-of-exported": partial(result_fields, "exported.json"),
    "fields-of-stimulus": partial(result_fields, "stimulus.json"),
}
