"""The small faults that a module can have: what one of its expressions or statements becomes.

The operators are those of mutation analysis (DeMillo, Lipton and Sayward, 1978; Offutt et al., 1996): another relation,
another connective, another arithmetic operator, a constant that is one more, a condition negated, a statement left out.
Constructors of formulas are connectives, too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from warnings import catch_warnings

RELATIONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.BitOr: "&", ast.BitAnd: "|"}
OTHER_NAMES = {
    **{"any": "all", "all": "any", "min": "max", "max": "min", "True": "False", "False": "True"},
    **{"both": "either", "either": "both", "And": "Or", "Or": "And", "TRUE": "FALSE", "FALSE": "TRUE"},
    **{"BVUGE": "BVUGT", "BVULE": "BVULT", "BVUGT": "BVUGE", "BVULT": "BVULE", "conjunction": "Or"},
}
"""Functions that take the same arguments and mean something else."""


@dataclass(frozen=True, slots=True)
class Fault:
    """``text`` in the place of the characters ``begin`` to ``end`` of a module, where ``was`` stands.

    ``line`` is the number of its first line, ``row`` that line without the blanks around it.
    """

    begin: int
    end: int
    text: str
    was: str
    line: int
    row: str

    def in_(self, source: str) -> str:
        """``source`` with this fault."""
        return source[: self.begin] + self.text + source[self.end :]

    @property
    def change(self) -> str:
        """What becomes of what."""
        return f"{' '.join(self.was.split())} -> {' '.join(self.text.split())}"

    def __str__(self) -> str:
        return f"line {self.line}: {self.change}"


def faults(source: str, rows: Container[str] | None = None) -> Iterator[Fault]:
    """All faults of a module, or those in ``rows`` of it, in the order of its text; annotations, docstrings and the
    texts of messages have none."""
    found = {(fault.begin, fault.end, fault.text): fault for fault in _Finder(source).all()}
    for fault in sorted(found.values(), key=lambda each: (each.begin, each.end, each.text)):
        if (rows is None or fault.row in rows) and _is_code(fault.in_(source)):
            yield fault


def _is_code(source: str) -> bool:
    try:
        with catch_warnings(action="ignore", category=SyntaxWarning):
            compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


class _Finder:
    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [0]
        for row in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(row))
        self._rows = source.splitlines()

    def all(self) -> Iterator[Fault]:
        for node in _code(ast.parse(self._source)):
            for text in _others(node, self._text):
                yield self._fault(node, text)
            if isinstance(node, ast.If | ast.While):
                yield self._fault(node.test, f"not {self._text(node.test)}")

    def _fault(self, node: ast.expr | ast.stmt, text: str) -> Fault:
        begin = self._at(node.lineno, node.col_offset)
        end = self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return Fault(begin, end, text, self._source[begin:end], node.lineno, self._rows[node.lineno - 1].strip())

    def _at(self, line: int, column: int) -> int:
        """The place in the text of a column that counts the bytes of UTF-8."""
        row = self._rows[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(row)

    def _text(self, node: ast.AST) -> str:
        found = ast.get_source_segment(self._source, node)
        assert found is not None
        return f"({found})" if isinstance(node, ast.BoolOp | ast.IfExp | ast.Compare | ast.BinOp) else found


def _code(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """``tree``, and all below it: every expression and statement that does something when it is run."""
    if isinstance(tree, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Raise):
        return
    below: Iterable[ast.AST] = ast.iter_child_nodes(tree)
    if isinstance(tree, ast.AnnAssign):
        below = [] if tree.value is None else [tree.value]
    elif isinstance(tree, ast.FunctionDef | ast.ClassDef):
        below = tree.body
    elif isinstance(tree, ast.expr | ast.stmt):
        yield tree
    for node in below:
        yield from _code(node)


def _others(node: ast.expr | ast.stmt, text: Callable[[ast.AST], str]) -> Iterator[str]:
    """What may stand in the place of ``node``."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in RELATIONS:
            yield f"({text(left)} {RELATIONS[type(op)]} {text(right)})"
        case ast.BoolOp(op=op, values=values):
            yield f"({(' or ' if isinstance(op, ast.And) else ' and ').join(map(text, values))})"
            for left_out in range(len(values)):
                rest = [text(value) for number, value in enumerate(values) if number != left_out]
                yield f"({(' and ' if isinstance(op, ast.And) else ' or ').join(rest)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            yield f"({text(left)} {ARITHMETIC[type(op)]} {text(right)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"bool({text(operand)})"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield f"({text(orelse)} if {text(test)} else {text(body)})"
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() as value):
            yield str(value + 1)
        case ast.Call(func=ast.Name(id=name), args=args) if name in OTHER_NAMES and (args or name in ("TRUE", "FALSE")):
            yield text(node).replace(name, OTHER_NAMES[name], 1)
        case ast.Call(func=ast.Name(id="negate" | "sorted"), args=[arg, *_]):
            yield text(arg)
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "pass"
