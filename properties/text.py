"""Properties as text: ``p1: G(mode == ON && dec -> X(speed == 1))`` and ``t1: cover(mode == DIS)``.

Conditions are C expressions with the program's own enumeration constants and macros; ``X(e)`` is ``e`` one step later.
Operators are found before macros are expanded, so that a property means the same in every program; what a program
itself calls like one is written in backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc.c.controller.model import CModel
from bmc.c.execute.access import NO_POINTER, Watch
from bmc.c.execute.memory import Content, Key, State
from bmc.c.execute.recorder import Recorder
from bmc.c.execute.variables import variable_name
from bmc.c.source.program import EnumConstant, Scope, with_deep_stack
from bmc.c.source.types import PointerType
from bmc.errors import InputRefused, Location
from bmc.formulas.unroll import unframed, unplaced
from bmc.records import dataclass
from bmc.system.transition import conjunction, symbols_of
from properties.goal import Goal, goal_length

_FORM = "write G(antecedent -> consequent), with X(...) for the next step, or cover(antecedent)"
_ONE_IMPLICATION = "an implication may only stand at the top of G(...)"
_ID = re.compile(r"\s*([A-Za-z_][\w.=\-]*)\s*:(?!:)")
_TOKEN = re.compile(
    r"\s+|/\*.*?\*/|//[^\n]*|`[A-Za-z_]\w*`|[A-Za-z_]\w*|\d\w*|'(?:\\.|[^'])*'|\"(?:\\.|[^\"])*\"|"
    r"->|=>|⇒|→|==|!=|<=|>=|&&|\|\||.",
    re.S,
)
_COMPOUND = c_ast.BinaryOp, c_ast.TernaryOp, c_ast.Cast, c_ast.ExprList, c_ast.Constant, c_ast.Typename
_NAME = re.compile(r"`?[A-Za-z_]")
_OPERATORS = {"X": "chaincover_operator_X_"}
"""The temporal operators, and what they are called in the C text that the parser gets: no program's name, no macro."""


@dataclass(frozen=True, slots=True)
class PropertyText:
    """A property as it was written, with what the project says about it."""

    text: str
    where: Location
    name: str = ""
    requirement: str = ""
    description: str = ""


def read_property(model: CModel, given: PropertyText, default_name: str) -> Goal:
    """The goal of a text property. InputRefused, with its place, if it cannot be read."""
    body = given.text.strip()
    name = given.name or default_name
    label = _ID.match(body)
    if label:
        name, body = given.name or label[1], body[label.end() :].strip()
    kind, inside = _outer(body, given.where)
    if kind == "cover":
        antecedent, consequent = inside, None
    else:
        antecedent, consequent = _split(inside, model, given.where)
    reader = _Reader(model, given.where)
    condition = reader.formula(antecedent)
    oracle = reader.formula(consequent) if consequent is not None else None
    parts = [condition] if oracle is None else [condition, oracle]
    length = max(reader.length, goal_length(parts, {v.name for v in model.inputs}))
    return Goal(name, condition, oracle, length, body, given.description, given.requirement, given.where)


def read_condition(model: CModel, text: str, where: Location) -> FNode:
    """A C expression over the variables of one step, as a formula over plain symbols.

    InputRefused, with its place, if it cannot be read, changes what it reads, or looks at a later step.
    """
    framed = _Reader(model, where).formula(text)
    if any(unframed(symbol)[1] for symbol in symbols_of(framed)):
        raise InputRefused(f"'{text.strip()}' looks at a later step", where, "leave X out; it is for properties only")
    return unplaced([framed])[0]


def _outer(body: str, where: Location) -> tuple[str, str]:
    """``G`` or ``cover`` and what stands between its parentheses."""
    tokens = _tokens(body)
    words = [index for index, token in enumerate(tokens) if not token.isspace()][:2]
    if [tokens[index] for index in words] not in (["G", "("], ["cover", "("]):
        raise InputRefused(f"'{body}' is not a property", where, _FORM)
    opening, depth = words[1], 0
    for index in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index], 0)
        if depth == 0:
            rest = "".join(tokens[index + 1 :]).strip().rstrip(";")
            if rest:
                raise InputRefused(f"'{rest}' stands after the end of the property", where, _FORM)
            return tokens[words[0]], "".join(tokens[opening + 1 : index])
    raise InputRefused(f"a ')' is missing in '{body}'", where, _FORM)


def _tokens(text: str) -> list[str]:
    """The tokens of a property's text, blanks among them; a comment is a blank."""
    return [" " if token[:2] in ("/*", "//") else token for token in _TOKEN.findall(text)]


def _is_operator(tokens: Sequence[str], index: int) -> bool:
    """Whether the token at ``index`` is a temporal operator: its name, and then what it applies to.

    Anywhere else the name is the program's.
    """
    behind = next((token for token in tokens[index + 1 :] if not token.isspace()), "")
    return tokens[index] in _OPERATORS and behind == "("


def _split(inside: str, model: CModel, where: Location) -> tuple[str, str]:
    """Antecedent and consequent around the one implication outside of all parentheses."""
    tokens = _tokens(inside)
    found: list[int] = []
    depth = 0
    for index, token in enumerate(tokens):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        if depth == 0 and (token in ("=>", "⇒", "→") or (token == "->" and not _is_member_arrow(tokens, index, model))):
            found.append(index)
    if len(found) != 1:
        what = "no implication" if not found else "more than one implication"
        raise InputRefused(f"{what} in 'G({inside.strip()})'", where, f"{_FORM}; '=>' is never read as C's '->'")
    return "".join(tokens[: found[0]]), "".join(tokens[found[0] + 1 :])


def _is_member_arrow(tokens: list[str], index: int, model: CModel) -> bool:
    """Whether ``->`` is C's member access: between a pointer's name and a member's name."""
    before = [t for t in tokens[:index] if not t.isspace()]
    after = [t for t in tokens[index + 1 :] if not t.isspace()]
    if not before or not after or not _NAME.match(after[0]) or _is_operator(after, 0):
        return False
    binding = model.scope().find(before[-1])
    if len(before) > 1 and before[-2] in (".", "->"):
        members = {part for name in model.names for part in re.split(r"->|\.|\[.*?\]", name)[:-1]}
        return before[-1] in members and f"{before[-1]}->{after[0]}" in " ".join(model.names)
    return isinstance(getattr(binding, "ctype", None), PointerType)


def _has_implication(text: str) -> bool:
    """Whether a condition has an arrow that cannot be C's: not before the name of a member."""
    tokens = [t for t in [*_tokens(text), ""] if not t.isspace()]
    for index, token in enumerate(tokens):
        member = token == "->" and _NAME.match(tokens[index + 1]) and not _is_operator(tokens, index + 1)
        if token in ("=>", "⇒", "→", "->") and not member:
            return True
    return False


class _Reader:
    """Evaluates the conditions of one property; ``X`` moves on to the next step's memory."""

    def __init__(self, model: CModel, where: Location) -> None:
        self.model = model
        self.where = where
        self.step = 0
        self.length = 0
        """J of what has been read, as it is written: also of what is folded away because its value is known."""
        objects = dict.fromkeys(variable.key[0] for variable in model.variables)
        named = [obj for obj in objects if obj.kind == "return" or "::" in obj.name]
        self.spelled = {f"chaincover_name_{number}_": obj for number, obj in enumerate(named)}

    def formula(self, text: str) -> FNode:
        """The framed formula of a condition; where it is not defined it does not hold."""
        recorder = Recorder()

        def work() -> FNode:
            node = self.model.expand_and_parse(self._as_c(text), self.where)
            scope = self._scope()
            state = self.model.state_at(0)
            before = dict(state.cells)
            self._measure(node, scope, 0)
            hooks = {_OPERATORS["X"]: self._next}
            holds = self.model.with_names(
                recorder, self.where, lambda: self.model.executor.condition(node, scope, state), **hooks
            )
            self._refuse_changes(before, state)
            for place in recorder.undefined_behaviour:
                if place.formula.is_true():
                    raise InputRefused(f"always undefined: {place.name}", self.where)
            return conjunction([holds, recorder.defined])

        try:
            return with_deep_stack(work)
        except InputRefused as error:
            if error.message.startswith(NO_POINTER) or _has_implication(text):
                hint = f"{_FORM}; elsewhere 'a implies b' is !(a) || (b)"
                raise InputRefused(f"{_ONE_IMPLICATION}, not in '{text.strip()}'", self.where, hint) from None
            message = error.message
            for name, word in [*_OPERATORS.items(), *((obj.name, word) for word, obj in self.spelled.items())]:
                message = message.replace(word, name)
            if text.strip() not in message:
                message = f"{message} in '{text.strip()}'"
            raise InputRefused(message, self.where, error.hint) from None

    def _measure(self, node: Any, scope: Scope, step: int) -> None:
        """Take note of the last step that ``node`` speaks of, evaluated at ``step``: the state then, or its inputs."""
        self.length = max(self.length, step)
        if isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") in _OPERATORS.values():
            for item in node.args.exprs if node.args else ():
                self._measure(item, scope, step + 1)
        elif isinstance(node, _COMPOUND) or (isinstance(node, c_ast.UnaryOp) and node.op in ("!", "~", "-", "+")):
            for _, child in node.children():
                self._measure(child, scope, step)
        else:
            watch, executor = Watch(-1), self.model.executor
            executor.watches.append(watch)
            try:
                hooks = dict.fromkeys(_OPERATORS.values(), self._next)
                state = self.model.state_at(step)
                self.model.with_names(Recorder(), self.where, lambda: executor.evaluate(node, scope, state), **hooks)
            except InputRefused:  # told where it is evaluated, if it is
                return
            finally:
                executor.watches.remove(watch)
            if not watch.reads.isdisjoint(variable.key for variable in self.model.inputs):
                self.length = max(self.length, step + 1)

    def _as_c(self, text: str) -> str:
        """``text`` with identifiers for what C has none for: operators, ``f::x``, ``file.c::x``, ``return``."""
        tokens = _tokens(text)
        operators = [_OPERATORS[token] if _is_operator(tokens, at) else token for at, token in enumerate(tokens)]
        text = "".join(token.strip("`") if token[:1] == "`" else token for token in operators)
        for word, obj in self.spelled.items():
            text = re.sub(rf"(?<![\w:]){re.escape(obj.name)}(?!\w|::)", word, text)
        return text

    def _refuse_changes(self, before: Mapping[Key, Content], state: State) -> None:
        """A condition looks at the state; one that changes it is most often '=' written for '=='."""
        for key, content in before.items():
            if state.cells.get(key) != content:
                text = f"the condition changes '{variable_name(*key)}'"
                raise InputRefused(text, self.where, "compare with '=='; a condition may only read")

    def _scope(self) -> Scope:
        scope = self.model.scope()
        scope.names.update(self.spelled)
        for word, value in (("true", 1), ("false", 0)):
            if scope.find(word) is None:
                scope.names[word] = EnumConstant(value)
        return scope

    def _next(self, node: Any, scope: Scope, state: State) -> Any:
        """``X(e)``: the value of ``e`` in the next step."""
        items = node.args.exprs if node.args else []
        if len(items) != 1:
            hint = f"{_FORM}; a macro or function of the program that is called X is written `X`(...)"
            raise InputRefused("X takes one condition", self.where, hint)
        self.step += 1
        later = State(self.model.state_at(self.step).cells, state.pc)
        before = dict(later.cells)
        try:
            result = self.model.executor.evaluate(items[0], scope, later)
            self._refuse_changes(before, later)
            return result
        finally:
            self.step -= 1
