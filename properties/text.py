"""Properties as text: ``p1: G(mode == ON && dec -> X(speed == 1))`` and ``t1: cover(mode == DIS)``.

Conditions are C expressions with the program's own enumeration constants and macros, and with the operators of
``properties.operators``: ``X(e)`` is ``e`` one step later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import InputRefused, Location, counted
from bmc.formulas.terms import both, either, negate
from bmc.formulas.unroll import at, at_each, unframed, unplaced
from bmc.limits import STEPS
from bmc.models.model import Expression, Model, Moment, NotAMember, UnknownFunction, Value
from bmc.records import dataclass
from bmc.stack import with_deep_stack
from bmc.system.memory import Memory, owner_of
from bmc.system.transition import ValueType, conjunction, symbols_of
from properties.deadlines import Deadline, Obligations
from properties.durations import Period, time_in
from properties.goal import Goal, goal_length
from properties.operators import (
    CALLS,
    FORM,
    FORMS,
    OPERATORS,
    SINCE,
    Use,
    around,
    as_c,
    as_written,
    assigns,
    has_implication,
    is_operator,
    missing_operator,
    rounded,
    sides,
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


@dataclass(frozen=True, slots=True)
class PropertyText:
    """A property as it was written, with what the project says about it and about the ``period`` of a step."""

    text: str
    where: Location
    name: str = ""
    requirement: str = ""
    description: str = ""
    period: Period = Period()


def read_property(model: Model, given: PropertyText, default_name: str) -> Goal:
    """The goal of a text property. InputRefused, with its place, if it cannot be read."""
    name, body = _name_and_body(given, default_name)
    reader = _Reader(model, given.where, name, given.period)
    antecedent, consequent = sides(body, reader.language, given.where)

    def goal(condition: FNode, oracle: FNode | None, length: int) -> Goal:
        about = (body, given.description, given.requirement, given.where)
        return Goal(name, condition, oracle, length, *about, memory=tuple(reader.memory.variables))

    reader.look_back_of(antecedent, consequent)
    inputs = _inputs_of(model)
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


def times_of(model: Model, given: PropertyText) -> tuple[str, ...]:
    """Each operator of a property in which a time stands, and its numbers of steps, a sentence each."""
    if not time_in(given.text):
        return ()
    reader = _Reader(model, given.where, "", given.period)
    reader.look_back_of(*sides(_name_and_body(given, "")[1], reader.language, given.where))
    return reader.times


def _inputs_of(model: Model) -> set[str]:
    return {variable.name for variable in model.variables if variable.role == "input"}


def _name_and_body(given: PropertyText, default_name: str) -> tuple[str, str]:
    """The name of a text property, and the text without the id that may stand before it."""
    body = given.text.strip()
    if label := _ID.match(body):
        return given.name or label[1], body[label.end() :].strip()
    if spaced := _SPACED_ID.match(body):
        possible = re.sub(r"[^\w.=-]+", "_", spaced[1])
        hint = f"an id is a word, such as {possible if possible[0].isalpha() else f'p_{possible}'}"
        raise InputRefused(f"'{spaced[1]}' is no id of a property", given.where, hint)
    return given.name or default_name, body


def read_condition(model: Model, text: str, where: Location) -> FNode:
    """A C expression over the variables of one step, as a formula over plain symbols.

    InputRefused, with its place, if it cannot be read, changes what it reads, or looks at another step.
    """
    reader = _Reader(model, where)
    reader.look_back([text])
    framed = reader.formula(text)
    if reader.past or reader.memory.variables or any(unframed(symbol)[1] for symbol in symbols_of(framed)):
        raise InputRefused(f"'{text.strip()}' looks at another step", where, _ONE_STEP)
    return unplaced([framed])[0]


def read_value(model: Model, text: str, where: Location) -> tuple[FNode, FNode, ValueType]:
    """An expression over the variables of one step: its value, when that is defined (plain), and its type.

    InputRefused as in ``read_condition``, and for what has no value.
    """
    reader = _Reader(model, where)
    reader.look_back([text])
    term, defined, kind = reader.value(text)
    term, defined = unplaced([term, defined])
    return term, defined, kind


def read_constraint(model: Model, given: PropertyText) -> tuple[FNode, tuple[str, ...]]:
    """A condition on inputs, over the variables of one step or of several, as a framed formula; and what stands for the
    times in it, as ``times_of`` says it.

    InputRefused, with its place, if it cannot be read, or says nothing of the inputs that come last in it.
    """
    text, where = given.text, given.where
    reader = _Reader(model, where, period=given.period)
    reader.look_back([text])
    framed = reader.formula(text)
    if reader.memory.variables:
        raise InputRefused(f"'{text.strip()}' looks back over any number of steps", where, _FIXED)
    inputs, places = _inputs_of(model), [unframed(symbol) for symbol in symbols_of(framed)]
    latest = max((step for name, step in places if name in inputs), default=0)
    late = sorted({name for name, step in places if step > latest})
    if late:
        text = f"'{text.strip()}' reads '{late[0]}' after the last input in it, which no input can change any more"
        raise InputRefused(text, where, "a constraint restricts inputs: read no state of a later step than theirs")
    return framed, reader.times


def _swapped(word: str, bounds: Sequence[str]) -> str:
    """The hint that the two bounds of an operator are reversed."""
    return f"swap the bounds: {word}[{bounds[1]},{bounds[0]}](...)"


class _Reader:
    """Evaluates the conditions of one property; operators move on to the memory of other steps."""

    def __init__(self, model: Model, where: Location, name: str = "", period: Period | None = None) -> None:
        """``period`` is None for a condition that may look at its own step alone: what a time is does not matter."""
        self.where = where
        self._name = name
        self._period = period
        self.times: tuple[str, ...] = ()
        """Each operator with a time in it, and the numbers of steps that were read for that."""
        self.past = 0
        """How many steps before its own the property looks back: its conditions are evaluated at this step."""
        self.length = 0
        """J of what has been read, as it is written: also of what is folded away because its value is known."""
        self.memory = Memory(owner_of(name))
        self.language = model.language(where, CALLS.values())
        self._variables = {variable.name for variable in model.variables}
        self._inputs = _inputs_of(model)
        self._read_before: dict[str, Expression] = {}
        self._antecedent = ""
        """The antecedent of a property with a consequent."""
        self._looked_at = 0
        self._since: dict[Expression, FNode] = {}
        """By the second condition of each use of ``since`` what it says at one step."""

    def look_back_of(self, antecedent: str, consequent: str | None) -> None:
        """Find ``past`` for the sides of a property.

        Where there is a consequent, neither side of the antecedent is the stricter one: where it holds in fewer runs,
        more has to be exercised, but less is required.
        """
        self._antecedent = "" if consequent is None else antecedent
        self.look_back([antecedent] if consequent is None else [antecedent, consequent])

    def look_back(self, texts: Sequence[str]) -> None:
        """Find ``past`` for conditions that are to be read."""
        for text in texts:
            self._read(text, lambda condition: setattr(self, "past", max(self.past, -self._first(condition))))

    def formula(self, text: str) -> FNode:
        """The framed formula of a condition; where it is not defined it does not hold."""

        def work(condition: Expression) -> FNode:
            self._measure(condition, self.past)
            return self._holds(condition, self.past)

        return self._read(text, work)

    def value(self, text: str) -> tuple[FNode, FNode, ValueType]:
        """The value of an expression without operators, when it is defined, and its type."""
        return self._read(text, self.language.value)

    def deadline(self, text: str) -> Deadline | None:
        """A condition that is ``F`` or ``G`` over several steps, perhaps within ``X``; None if it is another one."""

        def work(condition: Expression) -> Deadline | None:
            found = self._deadline(condition, "FG", 2)
            return None if found is None else self._named(found, condition, text)

        return self._read(text, work)

    def _named(self, deadline: Deadline, condition: Expression, text: str) -> Deadline:
        """``deadline``, which is the whole ``condition``, with its operators as ``text`` has them."""
        shown, numbers, inner = list[str](), dict[str, None](), condition
        for word, written in around(text):
            use = self._use(inner)
            assert use is not None
            inner = use.condition
            shown.append(f"{word}[{','.join(written)}]" if written else word)
            both_known = zip(written, use.numbers, strict=True)
            told = ((each, self.language.constant(number)) for each, number in both_known if not each.isdigit())
            numbers |= {f"{each} is {counted(steps, 'step')}": None for each, steps in told}
        return replace(deadline, text="(".join(shown) + ")" * (len(shown) - 1), numbers=tuple(numbers))

    def lasting(self, text: str) -> tuple[FNode, Deadline] | None:
        """A conjunction with one ``G`` over many steps: what else it says, and this; None if it is another one."""

        def work(condition: Expression) -> tuple[FNode, Deadline] | None:
            parts = [condition]
            while compound := [part for part in parts if part.connective == "&&"]:
                parts = [part for part in parts if part != compound[0]] + [*compound[0].parts]
            found = [part for part in parts if self._deadline(part, "G", MANY) is not None]
            if len(found) != 1:
                return None
            always = self._deadline(found[0], "G", MANY)
            assert always is not None
            return conjunction(self._holds(part, self.past) for part in parts if part != found[0]), always

        return self._read(text, work)

    def _use(self, expression: Expression) -> Use | None:
        return use_of(expression, self.language, self.where)

    def _deadline(self, condition: Expression, words: str, least: int) -> Deadline | None:
        """``condition`` as one of ``words`` over at least so many steps."""
        later = 0
        while (use := self._use(condition)) is not None and use.word == "X":
            later, condition = later + self._steps(use)[0], use.condition
        steps = self._steps(use) if use is not None and use.word in ("F", "G") else range(0)
        if use is None or use.word not in words or len(steps) < least:
            return None
        return Deadline(use.word, later + steps[0], later + steps[-1], self._holds(use.condition, self.past))

    def _holds(self, condition: Expression, step: int) -> FNode:
        """The framed formula of a condition at ``step``; where it is not defined it does not hold."""
        return self.language.holds(condition, step, self._operator)

    def _read(self, text: str, work: Callable[[Expression], _Read]) -> _Read:
        """What ``work`` makes of a condition; refusals quote it."""

        def whole() -> _Read:
            if text not in self._read_before:
                self._read_before[text] = self._parsed(text)
            return work(self._read_before[text])

        try:
            return with_deep_stack(whole)
        except InputRefused as error:
            if isinstance(error, NotAMember) or has_implication(text):
                hint = f"{FORM}; elsewhere 'a implies b' is !(a) || (b)"
                raise InputRefused(f"{_ONE_IMPLICATION}, not in '{text.strip()}'", self.where, hint) from None
            message, hint = self._told(error, text)
            if f"'{text.strip()}'" not in message:
                message = f"{message} in '{text.strip()}'"
            raise InputRefused(message, self.where, hint) from None

    def _told(self, error: InputRefused, text: str) -> tuple[str, str]:
        """What is wrong with a condition, and what to do next, in the words of properties."""
        message, hint = self._as_written(error.message, text), error.hint
        if hidden := self._in_macro(text):
            told = f"a macro holds the operator {hidden}, and operators are not seen inside macros"
            return told, f"write {OPERATORS[hidden].written} in the property itself"
        if assigns(text) and message.endswith(("as an lvalue", "where an object is expected")):
            return "'=' assigns to what is no variable", "did you mean '=='? A condition compares, it assigns nothing"
        if message.startswith("cannot read") and (told := missing_operator(text)):
            return told, FORMS
        if isinstance(error, UnknownFunction):
            return message, FORMS
        if hint == InputRefused.next_step and self._name:
            return message, f"correct it in the property '{self._name}' and run the command again"
        return message, hint

    def _as_written(self, message: str, text: str) -> str:
        """``message``, about what the parser got for ``text``, in the words of ``text``."""
        with suppress(InputRefused):
            marked, times = as_c(text)
            message = message.replace(marked.strip(), text.strip())
            for mark, time in times.items():
                message = message.replace(mark, time)
        return self.language.shown(as_written(message))

    def _parsed(self, text: str) -> Expression:
        """The expression that a condition is, times in it by the numbers of steps that they are."""
        marked, times = as_c(text)
        expression = self.language.parse(marked)
        if not times:
            return expression
        steps = dict[str, int]()
        self._time(expression, None if text == self._antecedent else True, times, steps)
        for mark, number in steps.items():
            marked = marked.replace(mark, str(number))
        return self.language.parse(marked)

    def _time(
        self, expression: Expression, strict: bool | None, times: Mapping[str, str], steps: dict[str, int]
    ) -> None:
        """Work out the ``steps`` of the ``times`` in ``expression``, both by their marks.

        ``strict``: whether what holds in fewer runs is the stricter side of it; None where neither side is.
        """
        use = self._use(expression)
        if use is None:
            inner = {"!": None if strict is None else not strict, "": None}.get(expression.connective, strict)
            for part in expression.parts:
                self._time(part, inner, times, steps)
            return
        written = [times.get(number.name, "") for number in use.numbers]
        for number, time in zip(use.numbers, written, strict=True):
            if time:
                rounding = rounded(use.word, number is use.numbers[0], strict)
                steps[number.name] = 1 if self._period is None else self._period.steps(time, rounding, self.where)
        if any(written):
            self._note_times(use, written, [steps.get(number.name) for number in use.numbers])
        for part in (use.condition, *([] if use.held is None else [use.held])):
            self._time(part, None if use.word in ("rise", "fall", "changed") else strict, times, steps)

    def _note_times(self, use: Use, written: Sequence[str], steps: Sequence[int | None]) -> None:
        """Take note of the numbers of steps of an operator. InputRefused where no step lies between its times."""
        both_known = zip(use.numbers, steps, strict=True)
        numbers = [self.language.constant(number) if known is None else known for number, known in both_known]
        STEPS.check(max(numbers), self.where)
        shown = ",".join(time or str(number) for time, number in zip(written, numbers, strict=True))
        if numbers != sorted(numbers):
            text = f"no step lies in {use.word}[{shown}]: as numbers of steps these are {', '.join(map(str, numbers))}"
            longer = "write a longer time, or numbers of steps that rise"
            # Rounding makes the first number greater than the last by 1 at most.
            hint = _swapped(use.word, shown.split(",")) if numbers[0] > numbers[-1] + 1 else longer
            raise InputRefused(text, self.where, hint)
        told = f"{use.word}[{shown}] is {use.word}[{','.join(map(str, numbers))}]"
        self.times = (*self.times, *([] if told in self.times else [told]))

    def _uses_in(self, expression: Expression) -> Iterator[Expression]:
        """The operators in ``expression``, without those that stand in another one."""
        for part in expression.parts:
            if self._use(part) is not None:
                yield part
            else:
                yield from self._uses_in(part)

    def _first(self, condition: Expression) -> int:
        """The first step that ``condition``, evaluated at step 0, reads a variable of, if it lies before that step."""
        return min(0, self._first_read(condition, 0) or 0)

    def _first_read(self, condition: Expression, step: int) -> int | None:
        """The first step of which ``condition``, evaluated at ``step``, reads a variable; None if it reads none.

        What an operator applies to, and reads none, is looked at where it stands. Steps from 0 on are not told apart.
        """
        use = self._use(condition)
        if use is not None and use.word == SINCE:
            return step
        if use is not None:
            there = step + self._steps(use)[0]
            found = self._first_read(use.condition, there)
            return there if found is None else found
        inner = [self._first_read(each, step) for each in self._uses_in(condition)]
        own = [step] if step < 0 and self.language.reads(condition, self._variables) is not False else []
        return min([*own, *(each for each in inner if each is not None)], default=None)

    def _measure(self, condition: Expression, step: int) -> None:
        """Take note of the last step that ``condition`` speaks of, evaluated at ``step``: its state, or its inputs."""
        self.length = max(self.length, step)
        use = self._use(condition)
        if use is not None and use.held is not None:
            self._measure(use.condition, step)
            self._measure(use.held, step)
        elif use is not None:
            self._measure(use.condition, step + self._steps(use)[-1])
        elif condition.operation:
            for part in condition.parts:
                self._measure(part, step)
        else:
            for each in self._uses_in(condition):
                self._measure(each, step)
            if self.language.reads(condition, self._inputs):
                self.length = max(self.length, step + 1)

    def _steps(self, use: Use) -> range:
        """The steps, from where an operator stands, at which its condition is looked at."""
        if use.word not in ("X", "F", "G"):
            return range(-1, 0 if use.word == "prev" else 1)
        for number in use.numbers:
            if number.name in _ENDLESS and not self.language.declares(number.name):
                text = f"'{number.name}' is no number, and {use.word} needs one: a deadline is by some step"
                raise InputRefused(text, self.where, FORMS)
        numbers = [self.language.constant(number) for number in use.numbers] or [1]
        first, last = numbers[0], numbers[-1]
        if 0 <= last < first:
            text = f"{use.word}[{first},{last}] ends before it begins"
            raise InputRefused(text, self.where, _swapped(use.word, (str(first), str(last))))
        if not 0 <= first <= last:
            text = f"{use.word}{numbers}: the numbers of steps are not 0 or more, and rising"
            raise InputRefused(text, self.where, f"{FORMS}; prev(e) looks back")
        STEPS.check(last, self.where)
        return range(first, last + 1)

    def _operator(self, call: Expression, here: Moment) -> Value:
        """The value of an operator at this step."""
        use = self._use(call)
        assert use is not None
        if use.held is not None:
            return here.of(at(self._since_here(use.held, use.condition), here.step))
        steps = self._steps(use)
        if use.word in ("X", "prev"):
            return self._at(steps[0], use.condition, here)
        if use.word in ("F", "G"):
            found = [here.truth(self._at(step, use.condition, here)) for step in steps]
            either = negate(conjunction(negate(part) for part in found))
            return here.of(conjunction(found) if use.word == "G" else either)
        apply, now = self.language.apply, use.condition
        before = apply(CALLS["prev"], self.language.number(0), now)
        if use.word == "changed":
            return here.value(apply("!=", before, now), here.step)
        was, is_ = (before, apply("!", now)) if use.word == "fall" else (apply("!", before), now)
        return here.value(apply("&&", was, is_), here.step)

    def _since_here(self, holding: Expression, begun: Expression) -> FNode:
        """What ``holding since begun`` says at one step, over its state, its inputs and what the system remembers."""
        if begun not in self._since:
            held, seen = self._of_one_step(holding), self._of_one_step(begun)
            before = self.memory.fresh()
            now = either(seen, both(held, before))
            self.memory.keep(before, now)
            self._since[begun] = now
        return self._since[begun]

    def _of_one_step(self, condition: Expression) -> FNode:
        """A condition that looks at no later step, over one step and what the system remembers."""
        back = -self._first(condition)
        framed = self._holds(condition, back)
        if any(unframed(symbol)[1] > back for symbol in symbols_of(framed)):
            raise InputRefused("a condition of since looks at a later step", self.where, _LATER)
        return both(self.memory.now(framed, back), self.memory.after(back))

    def _at(self, steps: int, condition: Expression, here: Moment) -> Value:
        """The value of ``condition`` that many steps later."""
        self._looked_at += 1
        STEPS.check(self._looked_at, self.where)
        return here.value(condition, here.step + steps)

    def _in_macro(self, text: str) -> str:
        """An operator that macros put into ``text``, unless the program has the name; '' if there is none."""
        with suppress(InputRefused):
            tokens, declares = tokens_of(self.language.expanded(text)), self.language.declares
            words = {token for at, token in enumerate(tokens) if is_operator(tokens, at) and not declares(token)}
            return min(words.difference(tokens_of(text)), default="")
        return ""
