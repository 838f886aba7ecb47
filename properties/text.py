"""Properties as text: ``p1: G(mode == ON && dec -> X(speed == 1))`` and ``t1: cover(mode == DIS)``.

Conditions are C expressions with the program's own enumeration constants and macros, and with the operators of
``properties.operators``: ``X(e)`` is ``e`` one step later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from pycparser import c_ast
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import InputRefused, Location
from bmc.formulas.terms import both, either, negate
from bmc.formulas.unroll import at, at_each, unframed, unplaced
from bmc.limits import STEPS
from bmc.models.c.controller.model import CModel
from bmc.models.c.execute.access import NO_POINTER, Accesses
from bmc.models.c.execute.arithmetic import from_condition
from bmc.models.c.execute.calls import UNDEFINED_FUNCTION
from bmc.models.c.execute.memory import Content, Key, State, Value
from bmc.models.c.execute.recorder import Recorder
from bmc.models.c.execute.variables import CVariable, variable_name
from bmc.models.c.source.program import EnumConstant, Scope
from bmc.models.c.source.types import Arithmetic, PointerType
from bmc.records import dataclass
from bmc.stack import with_deep_stack
from bmc.system.memory import Memory
from bmc.system.transition import conjunction, symbols_of
from properties.deadlines import Deadline, Obligations
from properties.goal import Goal, goal_length
from properties.operators import (
    CALLS,
    FORM,
    FORMS,
    NAME,
    OPERATORS,
    SINCE,
    Use,
    as_c,
    as_written,
    has_implication,
    is_operator,
    missing_operator,
    outer,
    tokens_of,
    use_of,
)

_Read = TypeVar("_Read")

_ONE_STEP = f"leave out {', '.join((*OPERATORS, SINCE))}; they are for properties only"
_FIXED = f"leave out {SINCE}: a constraint looks at a fixed number of steps"
_LATER = "since looks back: of its conditions leave out X, F and G"
_ONE_IMPLICATION = "an implication may only stand at the top of G(...)"
_ENDLESS = ("inf", "infinity", "INF", "INFINITY", "oo", "end", "never")
MANY = 9
"""From so many steps on a ``G`` in an antecedent is remembered, not unrolled."""
_ID = re.compile(r"\s*([A-Za-z_][\w.=\-]*)\s*:(?!:)")
_SPACED_ID = re.compile(r"([^:()]*[^:()\s])\s*:\s*(?:G|cover)\s*\(")
_COMPOUND = c_ast.BinaryOp, c_ast.TernaryOp, c_ast.Cast, c_ast.ExprList, c_ast.Constant, c_ast.Typename


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
    elif spaced := _SPACED_ID.match(body):
        possible = re.sub(r"[^\w.=-]+", "_", spaced[1])
        hint = f"an id is a word, such as {possible if possible[0].isalpha() else f'p_{possible}'}"
        raise InputRefused(f"'{spaced[1]}' is no id of a property", given.where, hint)
    kind, inside = outer(body, given.where)
    if kind == "cover":
        antecedent, consequent = inside, None
    else:
        antecedent, consequent = _split(inside, model, given.where)
    reader = _Reader(model, given.where, name)

    def goal(condition: FNode, oracle: FNode | None, length: int) -> Goal:
        about = (body, given.description, given.requirement, given.where)
        return Goal(name, condition, oracle, length, *about, memory=tuple(reader.memory.variables))

    reader.look_back([antecedent] if consequent is None else [antecedent, consequent])
    inputs = {variable.name for variable in model.inputs}
    owed = Obligations(reader.memory, inputs, reader.past)
    lasting = reader.lasting(antecedent)
    occurs = None if lasting is None else owed.lasting(*lasting)
    condition = TRUE() if occurs is not None else reader.formula(antecedent)
    deadline = reader.deadline(consequent) if consequent is not None else None
    if deadline is not None:
        judged = owed.judged(occurs or owed.occurrence(condition), deadline)
        if judged is not None:
            decided, held, failed = at_each([judged.decided, judged.held, judged.failed], 0)
            seen = condition if occurs is None else at(occurs.here, occurs.known)
            whole = replace(deadline, antecedent=seen, base=reader.past)
            return replace(goal(decided, held, 0), violated=failed, deadline=whole)
    oracle = reader.formula(consequent) if consequent is not None else None
    length = reader.length
    if occurs is not None:
        condition, length = at(occurs.here, 0), 0
        oracle = None if oracle is None else reader.memory.from_now(oracle, occurs.known)
    parts = [condition] if oracle is None else [condition, oracle]
    return goal(condition, oracle, max(length, goal_length(parts, inputs)))


def read_condition(model: CModel, text: str, where: Location) -> FNode:
    """A C expression over the variables of one step, as a formula over plain symbols.

    InputRefused, with its place, if it cannot be read, changes what it reads, or looks at another step.
    """
    reader = _Reader(model, where)
    reader.look_back([text])
    framed = reader.formula(text)
    if reader.past or reader.memory.variables or any(unframed(symbol)[1] for symbol in symbols_of(framed)):
        raise InputRefused(f"'{text.strip()}' looks at another step", where, _ONE_STEP)
    return unplaced([framed])[0]


def read_value(model: CModel, text: str, where: Location) -> tuple[FNode, FNode, Arithmetic]:
    """A C expression over the variables of one step: its value, when that is defined (plain), and its type.

    InputRefused as in ``read_condition``, and for a pointer.
    """
    reader = _Reader(model, where)
    reader.look_back([text])
    recorder, state = Recorder(), model.state_at(0)
    before = dict(state.cells)

    def work(node: Any, scope: Scope) -> Value:
        found: Value = model.with_names(recorder, where, lambda: model.executor.value(node, scope, state))
        reader._refuse_changes(before, state)
        return found

    value = reader._read(text, work)
    if isinstance(value.ctype, PointerType):
        raise InputRefused(f"'{text.strip()}' is a pointer", where, "name what has a value")
    term, defined = unplaced([value.bits, recorder.defined])
    return term, defined, value.ctype


def read_constraint(model: CModel, text: str, where: Location) -> FNode:
    """A condition on inputs, over the variables of one step or of several, as a framed formula.

    InputRefused, with its place, if it cannot be read, or says nothing of the inputs that come last in it.
    """
    reader = _Reader(model, where)
    reader.look_back([text])
    framed = reader.formula(text)
    if reader.memory.variables:
        raise InputRefused(f"'{text.strip()}' looks back over any number of steps", where, _FIXED)
    inputs, places = {v.name for v in model.inputs}, [unframed(symbol) for symbol in symbols_of(framed)]
    given = max((step for name, step in places if name in inputs), default=0)
    late = sorted({name for name, step in places if step > given})
    if late:
        text = f"'{text.strip()}' reads '{late[0]}' after the last input in it, which no input can change any more"
        raise InputRefused(text, where, "a constraint restricts inputs: read no state of a later step than theirs")
    return framed


def _split(inside: str, model: CModel, where: Location) -> tuple[str, str]:
    """Antecedent and consequent around the one implication outside of all parentheses."""
    tokens = tokens_of(inside)
    found: list[int] = []
    depth = 0
    for index, token in enumerate(tokens):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        if depth == 0 and (token in ("=>", "⇒", "→") or (token == "->" and not _is_member_arrow(tokens, index, model))):
            found.append(index)
    if len(found) != 1:
        what = "no implication" if not found else "more than one implication"
        raise InputRefused(f"{what} in 'G({inside.strip()})'", where, f"{FORM}; '=>' is never read as C's '->'")
    antecedent, consequent = "".join(tokens[: found[0]]), "".join(tokens[found[0] + 1 :])
    for part, what in ((antecedent, "antecedent"), (consequent, "consequent")):
        if not part.strip():
            raise InputRefused(f"the {what} is missing in 'G({inside.strip()})'", where, f"{FORM}; 'true' always holds")
    return antecedent, consequent


def _is_member_arrow(tokens: list[str], index: int, model: CModel) -> bool:
    """Whether ``->`` is C's member access: between a pointer's name and a member's name."""
    before = [t for t in tokens[:index] if not t.isspace()]
    after = [t for t in tokens[index + 1 :] if not t.isspace()]
    if not before or not after or not NAME.match(after[0]) or is_operator(after, 0):
        return False
    binding = model.scope().find(before[-1])
    if len(before) > 1 and before[-2] in (".", "->"):
        members = {part for name in model.names for part in re.split(r"->|\.|\[.*?\]", name)[:-1]}
        return before[-1] in members and f"{before[-1]}->{after[0]}" in " ".join(model.names)
    return isinstance(getattr(binding, "ctype", None), PointerType)


def _uses_in(node: Any, where: Location) -> Iterator[Any]:
    """The operators in ``node``, without those that stand in another one."""
    for _, child in node.children():
        if use_of(child, where) is not None:
            yield child
        else:
            yield from _uses_in(child, where)


class _Reader:
    """Evaluates the conditions of one property; operators move on to the memory of other steps."""

    def __init__(self, model: CModel, where: Location, name: str = "") -> None:
        self.model = model
        self.where = where
        self.past = 0
        """How many steps before its own the property looks back: its conditions are evaluated at this step."""
        self.step = 0
        self.length = 0
        """J of what has been read, as it is written: also of what is folded away because its value is known."""
        objects = dict.fromkeys(variable.key[0] for variable in model.variables)
        named = [obj for obj in objects if obj.kind == "return" or "::" in obj.name]
        self.spelled = {f"chaincover_name_{number}_": obj for number, obj in enumerate(named)}
        self.memory = Memory(name)
        self._trees: dict[str, Any] = {}
        self._looked_at = 0
        self._memories: dict[int, dict[Key, Content]] = {}
        self._since: dict[int, tuple[Any, FNode]] = {}
        """By each use of ``since``, which is kept with it, what it says at one step."""

    def look_back(self, texts: Sequence[str]) -> None:
        """Find ``past`` for conditions that are to be read."""
        for text in texts:
            self._read(text, lambda node, scope: setattr(self, "past", max(self.past, -self._first(node, scope))))

    def formula(self, text: str) -> FNode:
        """The framed formula of a condition; where it is not defined it does not hold."""

        def work(node: Any, scope: Scope) -> FNode:
            self._measure(node, scope, self.past)
            return self._holds(node, scope, self.past)

        return self._read(text, work)

    def deadline(self, text: str) -> Deadline | None:
        """A condition that is ``F`` or ``G`` over several steps, perhaps within ``X``; None if it is another one."""
        return self._read(text, lambda node, scope: self._deadline(node, scope, "FG", 2))

    def lasting(self, text: str) -> tuple[FNode, Deadline] | None:
        """A conjunction with one ``G`` over many steps: what else it says, and this; None if it is another one."""

        def work(node: Any, scope: Scope) -> tuple[FNode, Deadline] | None:
            parts = [node]
            while compound := [part for part in parts if isinstance(part, c_ast.BinaryOp) and part.op == "&&"]:
                parts = [part for part in parts if part is not compound[0]] + [compound[0].left, compound[0].right]
            found = [part for part in parts if self._deadline(part, scope, "G", MANY) is not None]
            if len(found) != 1:
                return None
            always = self._deadline(found[0], scope, "G", MANY)
            assert always is not None
            return conjunction(self._holds(part, scope, self.past) for part in parts if part is not found[0]), always

        return self._read(text, work)

    def _deadline(self, node: Any, scope: Scope, words: str, least: int) -> Deadline | None:
        """``node`` as one of ``words`` over at least so many steps."""
        later = 0
        while (use := use_of(node, self.where)) is not None and use.word == "X":
            later, node = later + self._steps(use, scope)[0], use.condition
        steps = self._steps(use, scope) if use is not None and use.word in ("F", "G") else range(0)
        if use is None or use.word not in words or len(steps) < least:
            return None
        return Deadline(use.word, later + steps[0], later + steps[-1], self._holds(use.condition, scope, self.past))

    def _holds(self, node: Any, scope: Scope, step: int) -> FNode:
        """The framed formula of a condition at ``step``; where it is not defined it does not hold."""
        outside, self.step = self.step, step
        recorder, state = Recorder(), self.model.state_at(step)
        before = dict(state.cells)
        try:
            holds = self.model.with_names(
                recorder, self.where, lambda: self.model.executor.condition(node, scope, state), **self._hooks()
            )
        finally:
            self.step = outside
        self._refuse_changes(before, state)
        for place in recorder.undefined_behaviour:
            if place.formula.is_true():
                raise InputRefused(f"always undefined: {place.name}", self.where)
        return conjunction([holds, recorder.defined])

    def _read(self, text: str, work: Callable[[Any, Scope], _Read]) -> _Read:
        """What ``work`` makes of the syntax tree of a condition; refusals quote it."""

        def whole() -> _Read:
            if text not in self._trees:
                self._trees[text] = self.model.expand_and_parse(self._as_c(text), self.where)
            return work(self._trees[text], self._scope())

        try:
            return with_deep_stack(whole)
        except InputRefused as error:
            if error.message.startswith(NO_POINTER) or has_implication(text):
                hint = f"{FORM}; elsewhere 'a implies b' is !(a) || (b)"
                raise InputRefused(f"{_ONE_IMPLICATION}, not in '{text.strip()}'", self.where, hint) from None
            message, hint = as_written(error.message), error.hint
            for word, obj in self.spelled.items():
                message = message.replace(word, obj.name)
            if UNDEFINED_FUNCTION in message:
                hint = FORMS
            if hidden := self._in_macro(text):
                message = f"a macro holds the operator {hidden}, and operators are not seen inside macros"
                hint = f"write {OPERATORS[hidden].written} in the property itself"
            elif message.startswith("cannot read") and (told := missing_operator(text)):
                message, hint = told, FORMS
            if text.strip() not in message:
                message = f"{message} in '{text.strip()}'"
            raise InputRefused(message, self.where, hint) from None

    def _hooks(self) -> dict[str, Any]:
        return dict.fromkeys(CALLS.values(), self._operator)

    def _first(self, node: Any, scope: Scope) -> int:
        """The first step that ``node``, evaluated at step 0, reads a variable of, if it lies before that step."""
        return min(0, self._first_read(node, scope, 0) or 0)

    def _first_read(self, node: Any, scope: Scope, step: int) -> int | None:
        """The first step of which ``node``, evaluated at ``step``, reads a variable; None if it reads none.

        What an operator applies to, and reads none, is looked at where it stands. Steps from 0 on are not told apart.
        """
        use = use_of(node, self.where)
        if use is not None and use.word == SINCE:
            return step
        if use is not None:
            there = step + self._steps(use, scope)[0]
            found = self._first_read(use.condition, scope, there)
            return there if found is None else found
        inner = [self._first_read(each, scope, step) for each in _uses_in(node, self.where)]
        own = [step] if step < 0 and self._reads(node, scope, self.model.variables) is not False else []
        return min([*own, *(each for each in inner if each is not None)], default=None)

    def _measure(self, node: Any, scope: Scope, step: int) -> None:
        """Take note of the last step that ``node`` speaks of, evaluated at ``step``: the state then, or its inputs."""
        self.length = max(self.length, step)
        use = use_of(node, self.where)
        if use is not None and use.word == SINCE:
            self._measure(use.condition, scope, step)
            self._measure(use.held, scope, step)
        elif use is not None:
            self._measure(use.condition, scope, step + self._steps(use, scope)[-1])
        elif isinstance(node, _COMPOUND) or (isinstance(node, c_ast.UnaryOp) and node.op in ("!", "~", "-", "+")):
            for _, child in node.children():
                self._measure(child, scope, step)
        else:
            for each in _uses_in(node, self.where):
                self._measure(each, scope, step)
            if self._reads(node, scope, self.model.inputs):
                self.length = max(self.length, step + 1)

    def _reads(self, node: Any, scope: Scope, variables: Iterable[CVariable]) -> bool | None:
        """Whether ``node`` reads one of ``variables`` outside of all operators in it.

        None where it cannot be evaluated: that is told where it is read, if it is.
        """
        accesses, executor = Accesses(-1), self.model.executor

        def unnoted(node: Any, scope: Scope, state: State) -> Any:
            use = use_of(node, self.where)
            assert use is not None
            with executor.apart():
                return executor.evaluate(use.condition, scope, state)

        work = partial(executor.evaluate, node, scope, self.model.state_at(0))
        executor.noted_in.append(accesses)
        try:
            self.model.with_names(Recorder(), self.where, work, **dict.fromkeys(CALLS.values(), unnoted))
        except InputRefused:
            return None
        finally:
            executor.noted_in.remove(accesses)
        return not accesses.reads.isdisjoint(variable.key for variable in variables)

    def _steps(self, use: Use, scope: Scope) -> range:
        """The steps, from where an operator stands, at which its condition is looked at."""
        if use.word not in ("X", "F", "G"):
            return range(-1, 0 if use.word == "prev" else 1)
        for number in use.numbers:
            if isinstance(number, c_ast.ID) and number.name in _ENDLESS and scope.find(number.name) is None:
                text = f"'{number.name}' is no number, and {use.word} needs one: a deadline is by some step"
                raise InputRefused(text, self.where, FORMS)
        numbers = [self.model.executor.constant(number, scope) for number in use.numbers] or [1]
        first, last = numbers[0], numbers[-1]
        if not 0 <= first <= last:
            text = f"{use.word}{numbers}: the numbers of steps are not 0 or more, and rising"
            raise InputRefused(text, self.where, f"{FORMS}; prev(e) looks back")
        STEPS.check(last, self.where)
        return range(first, last + 1)

    def _operator(self, node: Any, scope: Scope, state: State) -> Any:
        """The value of an operator at this step."""
        use = use_of(node, self.where)
        assert use is not None
        if use.word == SINCE:
            return from_condition(at(self._since_here(use, scope), self.step), self.model.executor.model.int_type)
        steps = self._steps(use, scope)
        if use.word in ("X", "prev"):
            return self._at(steps[0], use.condition, scope, state)
        executor = self.model.executor
        if use.word in ("F", "G"):
            found = [executor.truth_of(self._at(step, use.condition, scope, state)) for step in steps]
            either = negate(conjunction(negate(part) for part in found))
            return from_condition(conjunction(found) if use.word == "G" else either, self.model.executor.model.int_type)
        before = c_ast.FuncCall(c_ast.ID(CALLS["prev"]), c_ast.ExprList([c_ast.Constant("int", "0"), use.condition]))
        now = use.condition
        if use.word == "changed":
            return executor.evaluate(c_ast.BinaryOp("!=", before, now), scope, state)
        was, is_ = (before, c_ast.UnaryOp("!", now)) if use.word == "fall" else (c_ast.UnaryOp("!", before), now)
        return executor.evaluate(c_ast.BinaryOp("&&", was, is_), scope, state)

    def _since_here(self, use: Use, scope: Scope) -> FNode:
        """What ``since`` says at one step, over its state, its inputs and what the system remembers."""
        if id(use.condition) not in self._since:
            held, seen = self._of_one_step(use.held, scope), self._of_one_step(use.condition, scope)
            before = self.memory.fresh()
            now = either(seen, both(held, before))
            self.memory.keep(before, now)
            self._since[id(use.condition)] = use.condition, now
        return self._since[id(use.condition)][1]

    def _of_one_step(self, node: Any, scope: Scope) -> FNode:
        """A condition that looks at no later step, over one step and what the system remembers."""
        back = -self._first(node, scope)
        framed = self._holds(node, scope, back)
        if any(unframed(symbol)[1] > back for symbol in symbols_of(framed)):
            raise InputRefused("a condition of since looks at a later step", self.where, _LATER)
        return both(self.memory.now(framed, back), self.memory.after(back))

    def _at(self, steps: int, condition: Any, scope: Scope, state: State) -> Any:
        """The value of ``condition`` that many steps later."""
        self._looked_at += 1
        STEPS.check(self._looked_at, self.where)
        self.step += steps
        if self.step not in self._memories:
            self._memories[self.step] = self.model.state_at(self.step).cells
        before = self._memories[self.step]
        there = State(dict(before), state.pc)
        try:
            result = self.model.executor.evaluate(condition, scope, there)
            self._refuse_changes(before, there)
            return result
        finally:
            self.step -= steps

    def _as_c(self, text: str) -> str:
        """``text`` with identifiers for what C has none for: operators, ``f::x``, ``file.c::x``, ``return``."""
        text = as_c(text)
        for word, obj in self.spelled.items():
            text = re.sub(rf"(?<![\w:]){re.escape(obj.name)}(?!\w|::)", word, text)
        return text

    def _in_macro(self, text: str) -> str:
        """An operator that macros put into ``text``, unless the program has the name; '' if there is none."""
        with suppress(InputRefused):
            tokens, scope = tokens_of(self.model.expanded(text)), self._scope()
            words = {token for at, token in enumerate(tokens) if is_operator(tokens, at) and scope.find(token) is None}
            return min(words.difference(tokens_of(text)), default="")
        return ""

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
