"""Properties and their operators as text: how they are written, and what C text the parser gets for them.

Operators are found before macros are expanded, so that a property means the same in every program; what a program
itself calls like one is written in backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from bmc.errors import InputRefused, Location
from bmc.models.model import Expression, Language
from bmc.records import dataclass
from properties.durations import HOW, Rounding, is_time, no_time, time_in

_TOKEN = re.compile(
    r"\s+|/\*.*?\*/|//[^\n]*|`[A-Za-z_]\w*`|[A-Za-z_]\w*|\d\w*|'(?:\\.|[^'])*'|\"(?:\\.|[^\"])*\"|"
    r"->|=>|⇒|→|==|!=|<=|>=|&&|\|\||.",
    re.S,
)
_WORD = re.compile(r"`?\w")
_NAME = re.compile(r"`?[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator: how it is written, and how many numbers of steps may stand in its brackets, least and most."""

    written: str
    least: int = 0
    most: int = 0


OPERATORS = {
    "X": Operator("X(e) and X[n](e)", 0, 1),
    "F": Operator("F[m,n](e)", 2, 2),
    "G": Operator("G[m,n](e)", 2, 2),
    "prev": Operator("prev(e)"),
    "rise": Operator("rise(e)"),
    "fall": Operator("fall(e)"),
    "changed": Operator("changed(e)"),
}
"""By the word. What each means is told in docs/reference/properties.md."""

SINCE = "since"
"""The operator that stands between two conditions."""

FORMS = f"operators are {', '.join(each.written for each in OPERATORS.values())}, a since b"

_TIMES = f"a time stands alone in the brackets of X, F and G, as in F[0,2s](e); {HOW}"

FORM = "write G(antecedent -> consequent), with X(...) for the next step, or cover(antecedent)"
"""The forms of a property."""

CALLS = {word: f"chaincover_operator_{word}_" for word in (*OPERATORS, SINCE)}
"""What the operators are called in the C text that the parser gets: no program's name, no macro."""
_WORDS = {call: word for word, call in CALLS.items()}


def tokens_of(text: str) -> list[str]:
    """The tokens of a property's text, blanks among them; a comment is a blank."""
    return [" " if token[:2] in ("/*", "//") else token for token in _TOKEN.findall(text)]


def is_operator(tokens: Sequence[str], index: int) -> bool:
    """Whether the token at ``index`` is an operator: its word, then perhaps brackets, then what it applies to.

    Anywhere else the word is the program's.
    """
    if tokens[index] not in OPERATORS:
        return False
    after = _next(tokens, index)
    if after < len(tokens) and tokens[after] == "[" and OPERATORS[tokens[index]].most:
        after = _next(tokens, _closing(tokens, after))
    return after < len(tokens) and tokens[after] == "("


def _outer(body: str, where: Location) -> tuple[str, str]:
    """``G`` or ``cover`` and what stands between its parentheses."""
    tokens = tokens_of(body)
    words = [index for index, token in enumerate(tokens) if not token.isspace()][:2]
    if [tokens[index] for index in words] not in (["G", "("], ["cover", "("]):
        raise InputRefused(f"'{body}' is not a property", where, FORM)
    opening, depth = words[1], 0
    for index in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index], 0)
        if depth == 0:
            rest = "".join(tokens[index + 1 :]).strip().rstrip(";")
            if rest:
                raise InputRefused(f"'{rest}' stands after the end of the property", where, FORM)
            return tokens[words[0]], "".join(tokens[opening + 1 : index])
    raise InputRefused(f"a ')' is missing in '{body}'", where, FORM)


def sides(body: str, language: Language, where: Location) -> tuple[str, str | None]:
    """Antecedent and consequent of a property; it has none where it is to be covered only."""
    kind, inside = _outer(body, where)
    return (inside, None) if kind == "cover" else _around_implication(inside, language, where)


def _around_implication(inside: str, language: Language, where: Location) -> tuple[str, str]:
    """Antecedent and consequent around the one implication outside of all parentheses."""
    tokens = tokens_of(inside)
    found: list[int] = []
    depth = 0
    for index, token in enumerate(tokens):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        if depth == 0 and (
            token in ("=>", "⇒", "→") or (token == "->" and not _is_member_arrow(tokens, index, language))
        ):
            found.append(index)
    if len(found) != 1:
        what = "no implication" if not found else "more than one implication"
        raise InputRefused(f"{what} in 'G({inside.strip()})'", where, f"{FORM}; '=>' is never read as C's '->'")
    antecedent, consequent = "".join(tokens[: found[0]]), "".join(tokens[found[0] + 1 :])
    for part, what in ((antecedent, "antecedent"), (consequent, "consequent")):
        if not part.strip():
            raise InputRefused(f"the {what} is missing in 'G({inside.strip()})'", where, f"{FORM}; 'true' always holds")
    return antecedent, consequent


def _is_member_arrow(tokens: Sequence[str], index: int, language: Language) -> bool:
    """Whether ``->`` is an access to a member: in C between a pointer's name and a member's name."""
    before = [t for t in tokens[:index] if not t.isspace()]
    after = [t for t in tokens[index + 1 :] if not t.isspace()]
    if not before or not after or not _NAME.match(after[0]) or is_operator(after, 0):
        return False
    return language.is_member(before, after[0])


def around(text: str) -> list[tuple[str, list[str]]]:
    """The operators ``X`` that stand around all of a condition, from the outermost on, and the one in them; each with
    what is written in its brackets, without blanks."""
    tokens, found = [token for token in tokens_of(text) if not token.isspace()], list[tuple[str, list[str]]]()
    index = 0
    while not found or found[-1][0] == "X":
        while tokens[index : index + 1] == ["("]:
            index += 1
        if index == len(tokens) or not is_operator(tokens, index):
            break
        word, index = tokens[index], index + 1
        end = _closing(tokens, index) if tokens[index] == "[" else index
        found.append((word, _split(tokens[index + 1 : end])))
        index = end + (tokens[end] == "]")
    return found


def has_implication(text: str) -> bool:
    """Whether a condition has an arrow that cannot be C's: not before the name of a member."""
    tokens = [t for t in [*tokens_of(text), ""] if not t.isspace()]
    for index, token in enumerate(tokens):
        member = token == "->" and _NAME.match(tokens[index + 1]) and not is_operator(tokens, index + 1)
        if token in ("=>", "⇒", "→", "->") and not member:
            return True
    return False


def as_c(text: str) -> tuple[str, dict[str, str]]:
    """``text`` with each operator as a call; first how many numbers stand in its brackets, and these.

    A time in brackets is a mark, a name of its own; second: the times by their marks. InputRefused, without a place,
    where an operator, a time or a backquote is written so that it cannot be meant.
    """
    tokens = tokens_of(text)
    _refuse_slips(tokens)
    tokens = _since_as_calls(tokens)
    made: list[str] = []
    times: dict[str, str] = {}
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if not is_operator(tokens, index):
            made.append(token.strip("`") if token[:1] == "`" else token)
            index += 1
            continue
        opening = _next(tokens, index)
        numbers = tokens[opening + 1 : _closing(tokens, opening)] if tokens[opening] == "[" else []
        if tokens[opening] == "[":
            opening = _next(tokens, _closing(tokens, opening))
        count = min(len(_split(numbers)), 9)
        inside = _next(tokens, opening)
        empty = inside == len(tokens) or tokens[inside] == ")"
        made += [CALLS[token], f"({count}", ", " * bool(count), *_marked(numbers, times), ", " * (not empty)]
        index = opening + 1
    if stray := time_in("".join(token for token in made if token[:1] not in ("'", '"'))):
        raise InputRefused(f"'{stray}' is a time, and stands where no number of steps does", None, _TIMES)
    return "".join(made), times


def _marked(numbers: Sequence[str], times: dict[str, str]) -> list[str]:
    """What stands in brackets, with a mark for each time, which ``times`` takes."""
    parts = _split(numbers)
    for index, part in enumerate(parts):
        if slip := no_time(part):
            raise InputRefused(slip, None, _TIMES)
        if is_time(part):
            parts[index] = mark = f"chaincover_time_{len(times)}_"
            times[mark] = "".join(part.split())
    return [",".join(parts)]


def rounded(word: str, first: bool, strict: bool | None) -> Rounding:
    """How a time in the brackets of ``F``, ``G`` or ``X`` is rounded, which is the ``first`` number there or the last.

    ``strict``: whether a condition that holds in fewer runs is the stricter one; None where neither side is.
    """
    if word == "X" or strict is None:
        return Rounding.EXACT
    fewer_steps = (word == "F") == strict
    return Rounding.AT_LEAST if first == fewer_steps else Rounding.AT_MOST


def _refuse_slips(tokens: Sequence[str]) -> None:
    """InputRefused where a backquote quotes no name, or an operator has numbers or lacks brackets against its form."""
    for index, token in enumerate(tokens):
        if slip := _bounded_by_comparison(tokens, index):
            raise InputRefused(*slip)
        if token == "`":
            raise _quotes_nothing("".join(tokens[:index])[-20:].lstrip())
        if token not in OPERATORS or is_operator(tokens, index):
            continue
        last, after = index, _next(tokens, index)
        if tokens[after : after + 1] == ["["]:
            last = _closing(tokens, after)
            after = _next(tokens, last)
            if tokens[after : after + 1] == ["("] and not OPERATORS[token].most:
                form = "prev(prev(e))" if token == "prev" else OPERATORS[token].written
                raise InputRefused(f"{token} takes no numbers: write {form}", None, FORMS)
        if (
            after < len(tokens)
            and (_WORD.match(tokens[after]) or tokens[after] in "!~")
            and not is_since(tokens, after)
        ):
            form = OPERATORS[token].written if last == index else f"{''.join(tokens[index : last + 1])}(e)"
            raise InputRefused(f"put brackets around what {token} applies to: {form}", None, FORMS)


def _quotes_nothing(before: str) -> InputRefused:
    """What to say of a backquote that quotes no name, behind this text."""
    place = f"after '{before}'" if before else "at the beginning"
    hint = "backquotes stand around a macro or function of the program that is called like an operator: `prev`(e)"
    return InputRefused(f"the backquote {place} quotes no name", None, hint)


def _bounded_by_comparison(tokens: Sequence[str], index: int) -> tuple[str, None, str] | None:
    """What to say of an operator with its bound behind a comparison, as other tools write it: ``F<=50(e)``."""
    comparison = _next(tokens, index)
    number = _next(tokens, comparison)
    bracket = _next(tokens, number)
    if bracket >= len(tokens) or tokens[index] not in ("X", "F", "G") or tokens[comparison] not in ("<", "<=", "=="):
        return None
    if tokens[bracket] != "(" or not tokens[number][0].isdigit():
        return None
    written = "".join(tokens[each] for each in (index, comparison, number))
    bounds = tokens[number] if tokens[index] == "X" else f"0,{tokens[number]}"
    return f"'{written}(...)' is no operator", None, f"did you mean {tokens[index]}[{bounds}](...)? {FORMS}"


def assigns(text: str) -> bool:
    """Whether ``text`` has a ``=`` that C reads as an assignment."""
    return "=" in tokens_of(text)


def missing_operator(text: str) -> str:
    """Which words of ``text`` stand side by side as if one were an operator, or one stood between; '' if none do."""
    tokens = [token for token in tokens_of(text) if not token.isspace()]
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        ends, begins = _WORD.match(before) or before in ")]", _WORD.match(after) or after in "(!~"
        if ends and begins and _WORD.match(token):
            return f"'{token}' is no operator"
    for before, after in pairwise(tokens):
        if _WORD.match(before) and _WORD.match(after):
            return f"no operator stands between '{before}' and '{after}'"
    return ""


def is_since(tokens: Sequence[str], index: int) -> bool:
    """Whether the token at ``index`` is the operator ``since``: after the end of a condition and before another one.

    There C has no name, but for a cast's; so a variable of that name stays one.
    """
    if tokens[index] != SINCE:
        return False
    before = next((tokens[at] for at in range(index - 1, -1, -1) if not tokens[at].isspace()), "")
    after = _next(tokens, index)
    begins = after < len(tokens) and (_WORD.match(tokens[after]) or tokens[after] in ("(", "!", "~"))
    return bool(begins and (_WORD.match(before) or before in (")", "]")))


def _since_as_calls(tokens: list[str]) -> list[str]:
    """``tokens`` with each ``a since b`` as a call. InputRefused where it is not clear how far a condition goes."""
    while True:
        index = next((at for at in range(len(tokens)) if is_since(tokens, at)), None)
        if index is None:
            return tokens
        first, last = _reaches(tokens, index, -1) + 1, _reaches(tokens, index, 1)
        left, right = tokens[first:index], tokens[index + 1 : last]
        call = [CALLS[SINCE], "(0, (", *left, "), (", *right, "))"]
        tokens = [*tokens[:first], *call, *tokens[last:]]


def _reaches(tokens: Sequence[str], index: int, by: int) -> int:
    """Where the condition beside the ``since`` at ``index`` ends: at the bracket or comma around both."""
    depth, at = 0, index + by
    while 0 <= at < len(tokens):
        depth += by * {"(": 1, "[": 1, ")": -1, "]": -1}.get(tokens[at], 0)
        if depth < 0 or (depth == 0 and tokens[at] == ","):
            break
        if depth == 0 and (tokens[at] in ("&&", "||", "?", ":") or is_since(tokens, at)):
            text = f"'{tokens[at]}' beside since: it is not clear how far its conditions go"
            raise InputRefused(text, None, "put brackets around it: (a since b) && c, (a && b) since c")
        at += by
    return at


def as_written(text: str) -> str:
    """``text``, a message about what ``as_c`` made, with the operators' own words."""
    for call, word in _WORDS.items():
        text = text.replace(call, word)
    return text


@dataclass(frozen=True, slots=True)
class Use:
    """One use of an operator in an expression: ``numbers`` stand in its brackets, ``condition`` in its parentheses.

    ``held``: of ``a since b`` the condition a; ``condition`` is b.
    """

    word: str
    numbers: tuple[Expression, ...]
    condition: Expression
    held: Expression | None = None


def use_of(expression: Expression, language: Language, where: Location) -> Use | None:
    """The operator that ``expression`` is a use of, if it is one.

    InputRefused, with the place, if it is not written so.
    """
    name, items = expression.call or ("", ())
    word = _WORDS.get(name)
    if word is None:
        return None
    count, *items = items
    if word == SINCE:
        return Use(word, (), items[1], items[0])
    numbers, operator = language.constant(count), OPERATORS[word]
    hint = f"{FORMS}; a macro or function of the program that is called {word} is written `{word}`(...)"
    if not operator.least <= numbers <= operator.most:
        example = f", such as {word}[0,10](...)" if operator.least else ""
        raise InputRefused(
            f"{word} with {numbers or 'no'} numbers in brackets: write {operator.written}{example}", where, hint
        )
    if len(items) != numbers + 1:
        raise InputRefused(f"{word} takes one condition", where, hint)
    return Use(word, tuple(items[:numbers]), items[numbers])


def _next(tokens: Sequence[str], index: int) -> int:
    """The place of the next token after ``index`` that is no blank."""
    return next((at for at in range(index + 1, len(tokens)) if not tokens[at].isspace()), len(tokens))


def _closing(tokens: Sequence[str], opening: int) -> int:
    """The place of the bracket that closes the one at ``opening``."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += {"[": 1, "]": -1}.get(tokens[at], 0)
        if depth == 0:
            return at
    return len(tokens)


def _split(numbers: Sequence[str]) -> list[str]:
    """The parts, with commas between them, of what stands in brackets; none where nothing does."""
    depth, found = 0, [""]
    for token in numbers:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        if token == "," and depth == 0:
            found.append("")
        else:
            found[-1] += token
    return found if len(found) > 1 or found[0].strip() else []
