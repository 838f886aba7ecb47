"""The size and the shape of the source, in numbers: ``python -m benchmarks house [CHECKOUT ...] [--list]``.

Counted over the packages ``bmc``, ``properties`` and ``chaincover`` of each checkout (default: the current folder),
without importing them:

* statements: all statements of the syntax tree except docstrings; also without ``chaincover.verification`` and the
  public face;
* modules: all files with at least one statement besides the docstring;
* functions with more than five parameters, ``self`` and ``cls`` aside; click commands take what the command line has;
* classes with more than twelve attributes, which are the annotated fields and what methods assign to ``self``; the
  records in ``MIRRORS`` have one attribute for each option, project key or entry of a result file;
* modules under 100 lines that exactly one module imports; not commands, exporters and what only the ``__init__`` of its
  own room imports, which is the register of plug-ins there;
* modules of more than 500 lines;
* numeric constants: assignments of a module to a name in capitals whose value has numbers and nothing but them (signs,
  arithmetic, tuples, sets and dicts of them included);
* functions whose cyclomatic complexity (McCabe 1976, counted as radon does: one more for each branch, loop, handler,
  case, assertion, Boolean operator, comprehension and condition of one; nested functions belong to the outer one) is
  above 15, and those above 25;
* places that read the ``length`` of a goal outside of ``properties``, ``chaincover.formats`` and
  ``chaincover.reductions``: where the object is named after goals;
* classes that follow the progress of goals of several steps, by their names.

``--list`` names what was counted.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

PACKAGES = ("bmc", "properties", "chaincover")
NOT_COUNTED = ("chaincover.verification", "chaincover.__init__")
PARAMETERS, ATTRIBUTES, LINES, MOST_LINES = 5, 12, 100, 500
COMPLEX, MOST_COMPLEX = 15, 25
KNOW_LENGTHS = ("properties.", "chaincover.formats.", "chaincover.reductions.")
MONITORS = re.compile(r"Monitor|Watch(er)?$|Progression|ShortGoals|GoalRuns|GoalProduct")

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
    verify_statements: int
    modules: int
    long_signatures: list[str]
    large_classes: list[str]
    small_modules: list[str]
    long_modules: list[str]
    constants: list[str]
    complex_functions: list[str]
    most_complex_functions: list[str]
    goal_lengths: list[str]
    monitors: list[str]


def measure(checkout: Path) -> House:
    modules = list(read(checkout))
    own = {module.importable: module for module in modules}
    importers = defaultdict(set)
    for module in modules:
        for imported in imports(module, own):
            importers[imported].add(module.name)
    filled = [module for module in modules if module.statements()]
    judged = [m for m in filled if not any(m.name == name or m.name.startswith(name + ".") for name in NOT_COUNTED)]
    complexities = [
        (module, function, complexity(function)) for module in filled for function in functions(module.tree)
    ]
    return House(
        statements=sum(module.statements() for module in filled),
        judged_statements=sum(module.statements() for module in judged),
        verify_statements=sum(m.statements() for m in filled if f"{m.name}.".startswith("chaincover.verification.")),
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
        long_modules=[f"{module.name} ({module.lines} lines)" for module in filled if module.lines > MOST_LINES],
        constants=[line for module in filled for line in constants(module)],
        complex_functions=[complex_line(*each) for each in complexities if each[2] > COMPLEX],
        most_complex_functions=[complex_line(*each) for each in complexities if each[2] > MOST_COMPLEX],
        goal_lengths=[line for m in filled if not m.name.startswith(KNOW_LENGTHS) for line in goal_lengths(m)],
        monitors=[
            f"{module.name}:{node.lineno} {node.name}"
            for module in filled
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ClassDef) and MONITORS.search(node.name)
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


def constants(module: Module) -> Iterator[str]:
    for statement in module.tree.body:
        if names := named_numbers(statement):
            yield f"{module.name}:{statement.lineno} {', '.join(names)}"


def named_numbers(statement: ast.stmt) -> list[str]:
    """The names in capitals that a statement gives to numbers; none where it is another one."""
    match statement:
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
            if all(name == name.upper() for name in names) and is_numeric(value):
                return names
    return []


def is_numeric(value: ast.expr) -> bool:
    """Whether an expression has numbers, and names, texts and calls nowhere but as keys."""
    keys = {id(node) for each in ast.walk(value) if isinstance(each, ast.Dict) for node in each.keys}
    parts = [node for node in ast.walk(value) if isinstance(node, ast.expr) and id(node) not in keys]
    numbers = [node for node in parts if isinstance(node, ast.Constant)]
    allowed = ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List, ast.Set, ast.Dict
    return (
        bool(numbers)
        and all(isinstance(node, allowed) for node in parts)
        and all(isinstance(node.value, int | float) and not isinstance(node.value, bool) for node in numbers)
    )


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a module and the methods of its classes, but for functions within functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        else:
            yield from functions(node)


def complexity(function: ast.AST) -> int:
    """The number of independent paths through a function."""
    found = 1
    for node in ast.walk(function):
        match node:
            case ast.BoolOp(values=values):
                found += len(values) - 1
            case ast.comprehension(ifs=conditions):
                found += 1 + len(conditions)
            case ast.For(orelse=other) | ast.While(orelse=other) | ast.AsyncFor(orelse=other):
                found += 1 + bool(other)
            case ast.Try(handlers=handlers, orelse=other):
                found += len(handlers) + bool(other)
            case ast.If() | ast.IfExp() | ast.Assert() | ast.match_case() | ast.Lambda():
                found += 1
    return found


def complex_line(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, count: int) -> str:
    return f"{module.name}:{function.lineno} {function.name} (complexity {count})"


def goal_lengths(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr == "length":
            text = ast.unparse(node.value)
            if re.search(r"goal|by_name", text, re.IGNORECASE):
                yield f"{module.name}:{node.lineno} {text}.length"


@click.command()
@click.argument("checkouts", nargs=-1, type=click.Path(path_type=Path), metavar="[CHECKOUT]...")
@click.option("--list", "listed", is_flag=True, help="Name what was counted.")
def main(checkouts: tuple[Path, ...], listed: bool) -> None:
    """Size and shape of the source of checkouts; the current folder by default."""
    checkouts = checkouts or (Path(),)
    houses = [measure(checkout) for checkout in checkouts]
    rows = {
        "statements": [house.statements for house in houses],
        "... without verify and the public face": [house.judged_statements for house in houses],
        "statements of verify": [house.verify_statements for house in houses],
        "modules": [house.modules for house in houses],
        f"functions with more than {PARAMETERS} parameters": [len(house.long_signatures) for house in houses],
        f"classes with more than {ATTRIBUTES} attributes": [len(house.large_classes) for house in houses],
        f"modules under {LINES} lines with a single importer": [len(house.small_modules) for house in houses],
        f"modules of more than {MOST_LINES} lines": [len(house.long_modules) for house in houses],
        "numeric constants": [len(house.constants) for house in houses],
        f"functions of complexity above {COMPLEX}": [len(house.complex_functions) for house in houses],
        f"functions of complexity above {MOST_COMPLEX}": [len(house.most_complex_functions) for house in houses],
        "lengths of goals outside of goals, files, reductions": [len(house.goal_lengths) for house in houses],
        "classes that follow goals of several steps": [len(house.monitors) for house in houses],
    }
    width = max(map(len, rows))
    columns = [max(8, len(str(checkout))) for checkout in checkouts]
    print(" " * width, *(f"{checkout!s:>{c}}" for checkout, c in zip(checkouts, columns, strict=True)), sep="  ")
    for title, figures in rows.items():
        print(f"{title:{width}}", *(f"{n:{c}}" for n, c in zip(figures, columns, strict=True)), sep="  ")
    if listed:
        for checkout, house in zip(checkouts, houses, strict=True):
            for title, lines in asdict(house).items():
                if isinstance(lines, list):
                    print(f"\n{checkout}: {title.replace('_', ' ')}", *lines, sep="\n  ")
