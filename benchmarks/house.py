"""The size and the shape of the source, in numbers: ``python -m benchmarks.house [CHECKOUT ...] [--list]``.

Counted over the packages ``bmc``, ``properties`` and ``chaincover`` of each checkout (default: the current folder),
without importing them:

* statements: all statements of the syntax tree except docstrings; also without ``chaincover.verify`` and the public
  face;
* modules: all files with at least one statement besides the docstring;
* functions with more than five parameters, ``self`` and ``cls`` aside; click commands take what the command line has;
* classes with more than twelve attributes, which are the annotated fields and what methods assign to ``self``; the
  records in ``MIRRORS`` have one attribute for each option, project key or entry of a result file;
* modules under 100 lines that exactly one module imports; not commands, exporters and what only the ``__init__`` of its
  own room imports, which is the register of plug-ins there.

``--list`` names what was counted.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("bmc", "properties", "chaincover")
NOT_COUNTED = ("chaincover.verify", "chaincover.__init__")
PARAMETERS, ATTRIBUTES, LINES = 5, 12, 100

MIRRORS = ("Certificate", "ChainResult", "Document", "Options", "Project", "Result", "Search", "SourceConfig")
"""Records with one attribute for each option, key of chaincover.toml or entry of a result file."""

COMMANDS_AND_EXPORTERS = ("chaincover.cli.", "chaincover.formats.drawing")


@dataclass(frozen=True)
class Module:
    """One file: its dotted name (a package's own file ends in ``.__init__``), length and syntax tree."""

    name: str
    lines: int
    tree: ast.Module

    @property
    def importable(self) -> str:
        return self.name.removesuffix(".__init__")

    def statements(self) -> int:
        docstrings = sum(
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node) is not None
            for node in ast.walk(self.tree)
        )
        return sum(isinstance(node, ast.stmt) for node in ast.walk(self.tree)) - docstrings


@dataclass(frozen=True)
class House:
    """The figures of one checkout. What is limited is kept by name."""

    statements: int
    judged_statements: int
    modules: int
    long_signatures: list[str]
    large_classes: list[str]
    small_modules: list[str]


def measure(checkout: Path) -> House:
    modules = list(read(checkout))
    own = {module.importable: module for module in modules}
    importers = defaultdict(set)
    for module in modules:
        for imported in imports(module, own):
            importers[imported].add(module.name)
    filled = [module for module in modules if module.statements()]
    judged = [m for m in filled if not any(m.name == name or m.name.startswith(name + ".") for name in NOT_COUNTED)]
    return House(
        statements=sum(module.statements() for module in filled),
        judged_statements=sum(module.statements() for module in judged),
        modules=len(filled),
        long_signatures=[line for module in filled for line in long_signatures(module)],
        large_classes=[line for module in filled for line in large_classes(module)],
        small_modules=[
            f"{module.name} ({module.lines} lines), imported by {importer}"
            for module in filled
            if module.lines < LINES and not module.name.endswith(("__init__", "__main__"))
            for importer in only(importers[module.importable])
            if not is_plug_in(module, importer)
        ],
    )


def read(checkout: Path) -> Iterator[Module]:
    for package in PACKAGES:
        if not (checkout / package).is_dir():
            raise SystemExit(f"{checkout} has no folder {package}: give the root of a checkout")
        for path in sorted((checkout / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            name = ".".join(path.relative_to(checkout).with_suffix("").parts)
            yield Module(name, len(text.splitlines()), ast.parse(text, str(path)))


def only(importers: set[str]) -> set[str]:
    return importers if len(importers) == 1 else set()


def is_plug_in(module: Module, importer: str) -> bool:
    room = module.name.rpartition(".")[0]
    return importer == f"{room}.__init__" or module.name.startswith(COMMANDS_AND_EXPORTERS)


def imports(module: Module, own: dict[str, Module]) -> set[str]:
    """The modules among ``own`` that ``module`` imports, wherever in the file it does so."""
    found = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in own else node.module)
    return found & own.keys()


def long_signatures(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_command(node):
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            named = [p.arg for p in parameters if p.arg not in ("self", "cls")]
            count = len(named) + sum(extra is not None for extra in (node.args.vararg, node.args.kwarg))
            if count > PARAMETERS:
                yield f"{module.name}:{node.lineno} {node.name} ({count} parameters)"


def is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    called = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return any(isinstance(d, ast.Attribute) and d.attr in ("command", "group") for d in called)


def large_classes(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef) and node.name not in MIRRORS and len(attributes(node)) > ATTRIBUTES:
            yield f"{module.name}:{node.lineno} {node.name} ({len(attributes(node))} attributes)"


def attributes(record: ast.ClassDef) -> set[str]:
    names = set()
    for statement in record.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if "ClassVar" not in ast.unparse(statement.annotation):
                names.add(statement.target.id)
        elif isinstance(statement, ast.FunctionDef):
            for node in ast.walk(statement):
                match node:
                    case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                        names.add(name)
    return names


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.house", description="Size and shape of the source of checkouts.")
    parser.add_argument("checkouts", nargs="*", type=Path, default=[Path()], metavar="CHECKOUT")
    parser.add_argument("--list", action="store_true", help="name what was counted")
    options = parser.parse_args()
    houses = [measure(checkout) for checkout in options.checkouts]
    rows = {
        "statements": [house.statements for house in houses],
        "... without verify and the public face": [house.judged_statements for house in houses],
        "modules": [house.modules for house in houses],
        f"functions with more than {PARAMETERS} parameters": [len(house.long_signatures) for house in houses],
        f"classes with more than {ATTRIBUTES} attributes": [len(house.large_classes) for house in houses],
        f"modules under {LINES} lines with a single importer": [len(house.small_modules) for house in houses],
    }
    width = max(map(len, rows))
    columns = [max(8, len(str(checkout))) for checkout in options.checkouts]
    print(
        " " * width, *(f"{checkout!s:>{c}}" for checkout, c in zip(options.checkouts, columns, strict=True)), sep="  "
    )
    for title, figures in rows.items():
        print(f"{title:{width}}", *(f"{n:{c}}" for n, c in zip(figures, columns, strict=True)), sep="  ")
    if options.list:
        for checkout, house in zip(options.checkouts, houses, strict=True):
            for title in ("long_signatures", "large_classes", "small_modules"):
                print(f"\n{checkout}: {title.replace('_', ' ')}", *getattr(house, title), sep="\n  ")


if __name__ == "__main__":
    main()
