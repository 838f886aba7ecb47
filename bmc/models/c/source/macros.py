"""Macros (C11 6.10.3 with gcc's extensions): how they are defined, and how a text is expanded.

The expansion is that of gcc's preprocessor: the tokens that a macro stands for are read again on a stack of contexts. A
macro is out of use as long as its tokens are on the stack, and its name, met there, is never expanded any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import lru_cache
from typing import NoReturn, Protocol, TypeAlias

from bmc.models.c.source.tokens import (
    CHARACTER,
    END,
    MARK,
    OTHER,
    PADDING,
    STRING_,
    WORD,
    Row,
    Token,
    kind_of,
    tokens_of,
)
from bmc.records import dataclass

ARGUMENTS, OPTION = "__VA_ARGS__", "__VA_OPT__"
Arguments: TypeAlias = Sequence[list[Token] | None]
"""What stands for the parameters of a macro; None for variable arguments that are left out."""


class Part(Token):
    """A place in a macro's text: of the argument with this ``number``, or, without a number, of the ``inner`` text of
    ``__VA_OPT__``. ``quoted``: ``#`` stands before it."""

    __slots__ = ("inner", "number", "quoted")

    def __init__(self, token: Token, number: int, inner: Sequence[Token] = (), quoted: bool = False) -> None:
        super().__init__(token.kind, token.text, token.blank, token.line)
        self.number, self.inner, self.quoted = number, inner, quoted


@dataclass(eq=False, slots=True)
class Macro:
    """A macro, whose ``body`` holds a ``Part`` where an argument stands; ``parameters`` is None without parentheses.

    ``variadic``: the last parameter takes all arguments that are left. ``read`` gives the text of a macro that says
    something else in each place, from the line of its use.
    """

    name: str
    body: Sequence[Token] = ()
    parameters: tuple[str, ...] | None = None
    variadic: bool = False
    read: Callable[[int], str] | None = None


def definition(tokens: Sequence[Token]) -> Macro:
    """The macro that the tokens behind ``#define`` say; ValueError with what is wrong in them."""
    if not tokens:
        raise ValueError("it names no macro")
    name = tokens[0]
    if name.kind != WORD or name.text in ("defined", ARGUMENTS, OPTION):
        raise ValueError(f"'{name.text}' cannot be a macro's name")
    if len(tokens) > 1 and tokens[1].text == "(" and not tokens[1].blank:
        names, variadic, at = _parameters(tokens)
        return Macro(name.text, _body(tokens[at:], names, variadic), names, variadic)
    return Macro(name.text, _pasting(list(tokens[1:])))


MOST_KEPT = 1 << 16
"""Lines whose expansions and definitions are kept. With twice as many, headers of twice the size are expanded once."""


@lru_cache(maxsize=MOST_KEPT)
def definition_in(text: str, number: int, begins: tuple[int, ...], numbers: tuple[int, ...]) -> tuple[Macro, int]:
    """The macro that a row of text defines, and how many tokens it has; ValueError as ``definition``."""
    tokens = tokens_of(Row(text, number, begins, numbers))
    return definition(tokens[2:]), len(tokens)


def _parameters(tokens: Sequence[Token]) -> tuple[tuple[str, ...], bool, int]:
    """The parameters of a macro, whether the last is variadic, and the number of the first token of its text."""
    names: list[str] = []
    at, variadic = 2, False
    while at < len(tokens) and tokens[at].text != ")":
        if names or variadic:
            if tokens[at].text != "," or variadic:
                raise ValueError("its parameters are not separated by commas")
            at += 1
        word = tokens[at] if at < len(tokens) else Token(END, "")
        if word.text == "...":
            variadic = True
            names.append(ARGUMENTS)
        elif word.kind != WORD or word.text in names or word.text in (ARGUMENTS, OPTION):
            raise ValueError(f"'{word.text}' cannot be a parameter")
        else:
            names.append(word.text)
            if at + 1 < len(tokens) and tokens[at + 1].text == "...":
                variadic = True
                at += 1
        at += 1
    if at >= len(tokens):
        raise ValueError("its list of parameters does not end")
    return tuple(names), variadic, at + 1


def _body(tokens: Sequence[Token], names: tuple[str, ...], variadic: bool) -> list[Token]:
    """The text of a macro with parameters."""
    result: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        quoted = token.text in ("#", "%:") and token.kind == MARK
        if quoted:
            at += 1
            blank, token = token.blank, tokens[at].copy() if at < len(tokens) else Token(END, "")
            token.blank = blank
        if token.text == OPTION and token.kind == WORD and variadic:
            end = _closing(tokens, at + 1)
            inner = _body(tokens[at + 2 : end], names, variadic)
            result.append(Part(token, -1, inner, quoted))
            at = end
        elif token.kind == WORD and token.text in names:
            result.append(Part(token, names.index(token.text), (), quoted))
        elif quoted:
            raise ValueError("'#' is not followed by a parameter")
        elif token.text in (ARGUMENTS, OPTION):
            raise ValueError(f"'{token.text}' stands in a macro without variable arguments")
        else:
            result.append(token)
        at += 1
    return _pasting(result)


def _closing(tokens: Sequence[Token], at: int) -> int:
    """The number of the parenthesis that closes the one at ``at``."""
    depth = 0
    for number in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[number].text, 0)
        if depth == 0 and tokens[number].text == ")":
            return number
        if depth == 0:
            break
    raise ValueError(f"'{OPTION}' is not followed by a text in parentheses")


def _pasting(tokens: list[Token]) -> list[Token]:
    """``tokens`` without ``##``, which is noted at the token before it; none has a blank at the beginning."""
    result: list[Token] = []
    for number, token in enumerate(tokens):
        if token.kind == MARK and token.text in ("##", "%:%:"):
            if not result or number == len(tokens) - 1:
                raise ValueError("'##' stands at an end of its text")
            result[-1].pasted = True
        else:
            result.append(token)
    if result:
        result[0].blank = False
    return result


@dataclass(eq=False, slots=True)
class Context:
    """Tokens that are read before what follows them, and the macro that stands for them.

    ``fence``: nothing behind them is read: they are an argument that is expanded by itself.
    """

    tokens: list[Token]
    macro: Macro | None = None
    fence: bool = False
    at: int = 0


class Reader(Protocol):
    """Reads the lines of which the macros are expanded."""

    def count(self, tokens: int, line: int) -> None:
        """Count the tokens of an expansion in a line."""

    def fail(self, text: str, line: int) -> NoReturn:
        """Refuse a text that cannot be expanded."""

    def more(self, within: bool) -> bool:
        """Add tokens to the queue behind a macro's name that its file's line ends with; False where there are none.

        ``within``: they are to be the macro's arguments.
        """


@dataclass(eq=False, slots=True)
class Expansion:
    """Takes the tokens of what ``reader`` reads, and expands the macros among them."""

    macros: Mapping[str, Macro]
    reader: Reader
    queue: list[Token] = field(default_factory=list)
    """Tokens of the text, the next one last."""
    contexts: list[Context] = field(default_factory=list)
    active: dict[str, None] = field(default_factory=dict)
    """The macros that are out of use."""
    met: dict[str, Macro | None] = field(default_factory=dict)
    """What the names stand for that were looked up since somebody emptied this."""
    directive: bool = False
    """Whether the text is a directive, in which padding means nothing."""
    literal: int = 0
    """Above 0, names are read as they are: what is read are the arguments of a macro, or what ``defined`` names."""
    within: bool = False
    line: int = 0
    """Where the outermost macro that is being expanded stands."""
    column: int = 0
    """Where it stands in its line, until the first token of its expansion is taken."""

    @contextmanager
    def apart(self, tokens: Sequence[Token]) -> Iterator[None]:
        """Read ``tokens``, the text of a directive, and nothing else."""
        kept = self.queue, self.contexts, self.active, self.directive, self.literal, self.within, self.line
        self.queue, self.contexts, self.active = [*reversed(tokens)], [], {}
        self.directive, self.literal, self.within = True, 0, False
        try:
            yield
        finally:
            self.queue, self.contexts, self.active, self.directive, self.literal, self.within, self.line = kept

    def rest(self) -> list[Token]:
        """All tokens up to the end, expanded."""
        result: list[Token] = []
        while (token := self.get()).kind != END:
            result.append(token)
        return result

    def get(self) -> Token:
        """The next token, with macros expanded; one of kind ``END`` where there is none."""
        while True:
            token = self._next()
            if token is None:
                if self.directive:
                    continue
                return Token(PADDING, "", None)
            if token.kind != WORD or token.frozen:
                return token
            macro = self.met[token.text] = self.macros.get(token.text)
            if macro is None:
                return token
            if token.text in self.active:
                token.frozen = True
                return token
            if self.literal or not self._enter(macro, token):
                return token
            if not self.directive:
                return Token(PADDING, "", bool(token.blank))

    def _next(self) -> Token | None:
        """The next token as it stands; None where a context ends."""
        if not self.contexts:
            return self._of_text()
        context = self.contexts[-1]
        if context.at < len(context.tokens):
            token = context.tokens[context.at]
            context.at += 1
            return self._pasted(token, context) if token.pasted else token
        if context.fence:
            return Token(END, "")
        self.contexts.pop()
        if context.macro is not None:
            self.active.pop(context.macro.name, None)
        return None

    def _of_text(self) -> Token:
        while not self.queue:
            if self.directive or not self.literal or not self.reader.more(self.within):
                return Token(END, "")
        return self.queue.pop()

    def _back(self, token: Token) -> None:
        """Put a token back, to be the next one."""
        if token.kind == END:
            return
        if self.contexts and self.contexts[-1].at:
            self.contexts[-1].at -= 1
            self.contexts[-1].tokens[self.contexts[-1].at] = token
        else:
            self.queue.append(token)

    def _pasted(self, first: Token, context: Context) -> Token:
        """``first`` pasted with what follows it; the result is read again."""
        text, token = first.text, first
        while token.pasted and context.at < len(context.tokens):
            token = context.tokens[context.at]
            context.at += 1
            if token.kind == PADDING:
                continue
            kind = kind_of(text + token.text) if text else token.kind
            if not kind or (text + token.text)[:2] in ("//", "/*"):
                self.reader.fail(f"'{text}' and '{token.text}' pasted with ## are no token", self.line)
            text += token.text
        result = Token(kind_of(text) or OTHER, text, first.blank, self.line)
        self.contexts.append(Context([result], None, False, 1))
        return result

    def _enter(self, macro: Macro, name: Token) -> bool:
        """Put what a macro stands for on the stack; False where its name is not followed by arguments."""
        outermost = not self.contexts or self.contexts[-1].fence
        before = self.line
        if outermost:
            self.line, self.column = name.line, name.column
        if macro.read is not None:
            tokens = tokens_of(Row(macro.read(self.line), self.line))
        elif macro.parameters is None:
            tokens = [token.copy() for token in macro.body]
        else:
            arguments = self._call(macro)
            if arguments is None:
                self.line = before
                return False
            expanded: dict[int, list[Token]] = {}
            tokens = self._filled(macro.body, macro, arguments, expanded)
        self.active[macro.name] = None
        self.reader.count(len(tokens) + 1, self.line)
        self.contexts.append(Context(tokens, macro))
        return True

    # the arguments of a call

    def _call(self, macro: Macro) -> Arguments | None:
        """The arguments behind a macro's name; None where no parenthesis follows."""
        self.literal += 1
        try:
            padding: Token | None = None
            while (token := self.get()).kind == PADDING:
                if padding is None or padding.blank is None or (not padding.blank and token.blank is None):
                    padding = token
            if token.text != "(":
                self._back(token)
                if padding is not None:
                    self.contexts.append(Context([padding]))
                return None
            outside, self.within = self.within, True
            try:
                found = self._gathered(macro)
            finally:
                self.within = outside
        finally:
            self.literal -= 1
        return self._checked(macro, found)

    def _gathered(self, macro: Macro) -> list[list[Token]]:
        assert macro.parameters is not None
        found: list[list[Token]] = [[]]
        depth = 0
        while True:
            token = self.get()
            if token.kind == END:
                self.reader.fail(f"the arguments of the macro '{macro.name}' do not end", self.line)
            if token.kind == PADDING:
                found[-1] += [token] if found[-1] else []
                continue
            if token.kind == MARK:
                if token.text == ")" and depth == 0:
                    break
                if token.text == "," and depth == 0 and not (macro.variadic and len(found) == len(macro.parameters)):
                    found.append([])
                    continue
                depth += {"(": 1, ")": -1}.get(token.text, 0)
            if self.contexts and not self.contexts[-1].fence:
                token.line = self.line
            found[-1].append(token)
        for tokens in found:
            while tokens and tokens[-1].kind == PADDING:
                tokens.pop()
        self.reader.count(sum(map(len, found)), self.line)
        return found

    def _checked(self, macro: Macro, found: Sequence[list[Token]]) -> Arguments:
        assert macro.parameters is not None
        arguments: list[list[Token] | None] = [*found]
        needs = len(macro.parameters)
        if needs == 0 and len(found) == 1 and not found[0]:
            return []
        if macro.variadic and len(found) == needs - 1:
            return [*arguments, None]
        if len(found) != needs:
            self.reader.fail(f"the macro '{macro.name}' takes {needs} argument(s), not {len(found)}", self.line)
        if macro.variadic and needs == 1 and not found[0]:
            return [None]
        return arguments

    def _expanded(self, tokens: Sequence[Token]) -> list[Token]:
        """An argument, expanded by itself."""
        kept = self.literal, self.line
        self.literal = 0
        self.contexts.append(Context([token.copy() for token in tokens], None, True))
        try:
            return self.rest()
        finally:
            self.contexts.pop()
            self.literal, self.line = kept

    def _filled(
        self,
        body: Sequence[Token],
        macro: Macro,
        arguments: Arguments,
        known: dict[int, list[Token]],
    ) -> list[Token]:
        """A macro's text with its arguments in place; ``known``: those that are expanded already."""
        out: list[Token] = []
        pasting = False
        for number, item in enumerate(body):
            if not isinstance(item, Part):
                out.append(item.copy())
            elif item.quoted:
                out.append(self._text(self._inner(item, macro, arguments, known), item))
            else:
                tokens = self._inner(item, macro, arguments, known, pasting)
                if pasting and not item.pasted and out and out[-1].text == "," and _is_rest(item, macro):
                    out[-1].pasted = False  # gcc's ", ## __VA_ARGS__"
                    if arguments[-1] is None:
                        del out[-1]
                self._place(out, item, number == 0 or pasting, tokens)
            pasting = item.pasted
        return out

    def _inner(
        self,
        item: Part,
        macro: Macro,
        arguments: Arguments,
        known: dict[int, list[Token]],
        pasting: bool = True,
    ) -> list[Token]:
        """What stands for a part of a macro's text: as it is given, where it is pasted or quoted, else expanded."""
        number = item.number if item.number >= 0 else len(arguments) - 1
        raw = arguments[number] or []
        literal = item.number >= 0 and (item.pasted or pasting or item.quoted)
        if not literal and number not in known:
            known[number] = self._expanded(raw)
        if item.number >= 0:
            return raw if literal else known[number]
        given = any(token.kind != PADDING for token in known[number])
        inner = self._filled(item.inner, macro, arguments, known)
        inner = inner if given else []
        while inner and inner[-1].kind == PADDING:
            inner.pop()
        return inner

    @staticmethod
    def _place(out: list[Token], item: Part, joined: bool, tokens: Sequence[Token]) -> None:
        """Put the ``tokens`` of an argument into a text; ``joined``: nothing keeps them from what stands before."""
        if not joined:
            out.append(Token(PADDING, "", bool(item.blank)))
        out += [token.copy() for token in tokens]
        if out and (tokens or joined):
            out[-1].pasted = item.pasted
        if not item.pasted:
            out.append(Token(PADDING, "", None))

    def _text(self, tokens: Sequence[Token], item: Part) -> Token:
        """The tokens of an argument as a string constant (C11 6.10.3.2)."""
        text = ""
        source: Token | None = None
        for token in tokens:
            if token.kind == PADDING:
                if source is None or (not source.blank and token.blank is None):
                    source = token if token.blank is not None else None
                continue
            blank = (source or token).blank
            source = None
            escaped = token.kind in (STRING_, CHARACTER)
            text += (" " if text and blank else "") + (
                token.text.replace("\\", "\\\\").replace('"', '\\"') if escaped else token.text
            )
        if (len(text) - len(text.rstrip("\\"))) % 2:
            text = text[:-1]
        made = Token(STRING_, f'"{text}"', item.blank)
        made.pasted = item.pasted
        return made


def _is_rest(item: Part, macro: Macro) -> bool:
    """Whether a part of a macro's text is its variable arguments."""
    return macro.variadic and macro.parameters is not None and item.number == len(macro.parameters) - 1
