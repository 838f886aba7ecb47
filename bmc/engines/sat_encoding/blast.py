"""Bit-blasting: from pysmt formulas (Booleans and bit-vectors, QF_BV) to gates, without recursion.

First the circuits on words, for the operators of the theory of fixed-size bit-vectors. A word is a sequence of literals
of one graph, the lowest bit first; operands of one operator have the same width.

Words chosen by trees of conditions are chosen once each, not once for every way to them: generated code writes one
variable in many branches, so that its next value is a tree of choices with few different words in it. Of a tree of n
choices between m words of b bits this makes about 2 n + (m - 1) b gates instead of n b.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.engines.sat_encoding.aig import FALSE, TRUE, Graph
from bmc.records import dataclass

Word = Sequence[int]


def constant(value: int, bits: int) -> Word:
    """The word of ``bits`` bits that is ``value``."""
    return [value >> place & 1 for place in range(bits)]


def inverted(word: Word) -> Word:
    """Every bit inverted."""
    return [bit ^ 1 for bit in word]


def chosen(g: Graph, condition: int, then: Word, other: Word) -> Word:
    """``then`` where ``condition``, else ``other``."""
    if condition <= TRUE:
        return then if condition else other
    return [g.choice(condition, t, o) for t, o in zip(then, other, strict=True)]


def equal(g: Graph, a: Word, b: Word) -> int:
    """Whether two words are equal."""
    return g.all(g.exclusive(x, y) ^ 1 for x, y in zip(a, b, strict=True))


def size(word: Word) -> int:
    """The bits of ``word`` without those at its top that only repeat its sign."""
    bits = len(word)
    while bits > 1 and word[bits - 1] == word[bits - 2]:
        bits -= 1
    return bits


def extended(word: Word, bits: int) -> Word:
    """``word`` as a signed number of ``bits`` bits, cut off if it has more."""
    return [*word, *[word[-1]] * (bits - len(word))][:bits]


def below(g: Graph, a: Word, b: Word, or_equal: bool = False) -> int:
    """Whether ``a`` is less than ``b``, both unsigned; or at most ``b``. Repeated signs say nothing more."""
    found = TRUE if or_equal else FALSE
    bits = max(size(a), size(b))
    for x, y in zip(a[:bits], b[:bits], strict=True):
        found = g.majority(x ^ 1, y, found)
    return found


def signed_below(g: Graph, a: Word, b: Word, or_equal: bool = False) -> int:
    """Whether ``a`` is less than ``b``, both signed; or at most ``b``."""
    return below(g, [*a[:-1], a[-1] ^ 1], [*b[:-1], b[-1] ^ 1], or_equal)


def sum_of(g: Graph, a: Word, b: Word, carry: int = FALSE) -> Word:
    """The sum of two words and a carry, wrapped; it has at most one bit more than they have without repeated signs."""
    found = []
    bits = min(len(a), max(size(a), size(b)) + 1)
    for x, y in zip(a[:bits], b[:bits], strict=True):
        found.append(g.exclusive(g.exclusive(x, y), carry))
        carry = g.majority(x, y, carry)
    return extended(found, len(a))


def difference(g: Graph, a: Word, b: Word) -> Word:
    """``a - b``, wrapped."""
    return sum_of(g, a, inverted(b), TRUE)


def negated(g: Graph, a: Word) -> Word:
    """``-a``, wrapped."""
    return sum_of(g, constant(0, len(a)), inverted(a), TRUE)


def product(g: Graph, a: Word, b: Word) -> Word:
    """The product of two words, wrapped: rows of the one, added where the other has a bit, subtracted where its sign.

    The order of the words makes no difference.
    """
    if _unknown(a) < _unknown(b):
        a, b = b, a
    if _unknown(b) == 0:
        return _multiple(g, a, sum(bit << place for place, bit in enumerate(b)))
    bits = len(a)
    a, b = sorted((list(a[: size(a)]), list(b[: size(b)])), key=lambda word: (len(word), word), reverse=True)
    found: Word = [FALSE]
    for place, factor in enumerate(b):
        if factor != FALSE:
            room = min(len(a) + 1, bits - place)
            row = extended([g.conjunction(bit, factor) for bit in a[:room]], room)
            rest = extended(found, max(len(found), place + 1))[place:]
            add = difference if place == len(b) - 1 else sum_of
            found = [*extended(found, place), *add(g, extended(rest[: size(rest)], room), row)]
    return extended(found, bits)


def _unknown(word: Word) -> int:
    return sum(bit > TRUE for bit in word)


def _multiple(g: Graph, a: Word, factor: int) -> Word:
    """``a`` times a number, wrapped, by few additions and subtractions of shifted words."""
    bits = len(a)
    if factor == 0:
        return constant(0, bits)
    opposite = (1 << bits) - factor
    if _digits(factor) > _digits(opposite) + 1:
        return negated(g, _multiple(g, a, opposite))
    zeros = (factor & -factor).bit_length() - 1
    if zeros:
        return [*constant(0, zeros), *_multiple(g, a, factor >> zeros)][:bits]
    if factor == 1:
        return a
    way = spelled(factor)
    first = _multiple(g, a, way.first)
    second = first if way.second == way.first else _multiple(g, a, way.second)
    return (sum_of if way.sign > 0 else difference)(g, [*constant(0, way.places), *first][:bits], second)


def _digits(number: int) -> int:
    """The digits 1 and -1 that spell ``number``."""
    return (number ^ 3 * number).bit_count()


class Spelling(NamedTuple):
    """A number as ``first`` times two to the power ``places``, plus (``sign`` 1) or minus (-1) ``second``."""

    additions: int
    first: int = 0
    places: int = 0
    sign: int = 1
    second: int = 0


WIDEST = 53
"""Bits of the widest numbers whose factors are looked for: a ``double``'s significand has so many."""


@cache
def spelled(number: int) -> Spelling:
    """``number`` (above 0) by few additions: by its digits 1 and -1 from below, the highest of them first, or by
    factors one more or less than a power of two (R. Bernstein, "Multiplication by integer constants", 1986).

    Decimal fractions repeat a few digits: the significand of 0.1F takes 5 additions instead of 12.
    """
    number >>= (number & -number).bit_length() - 1
    high = number.bit_length() - 1
    ways = [_from_below(number)]
    for top, sign in ((high, 1), (high + 1, -1)):
        rest = abs(number - (1 << top))
        if rest:
            ways.append(Spelling(1 + _from_below(rest).additions, 1, top, sign, rest))
    return min(ways, key=lambda way: way.additions)


@cache
def _from_below(number: int) -> Spelling:
    """``spelled`` without taking the highest digit first."""
    number >>= (number & -number).bit_length() - 1
    if number == 1:
        return Spelling(0)
    sign = 1 if number & 3 == 1 else -1
    rest = number - sign
    places = (rest & -rest).bit_length() - 1
    ways = [Spelling(1 + _from_below(rest).additions, rest >> places, places, sign, 1)]
    widest = number.bit_length() // 2 + 2 if number.bit_length() <= WIDEST else 0
    for places in range(2, widest):
        for sign in (1, -1):
            part, left = divmod(number, (1 << places) + sign)
            if left == 0:
                ways.append(Spelling(1 + _from_below(part).additions, part, places, sign, part))
    return min(ways, key=lambda way: way.additions)


def divided(g: Graph, a: Word, b: Word) -> tuple[Word, Word]:
    """Quotient and remainder of unsigned words; by zero all ones and ``a``. Subtracts from the highest place down."""
    bits = len(a)
    used = max((place + 1 for place, bit in enumerate(b) if bit != FALSE), default=0)
    divisor = list(b[:used])
    rest: list[int] = []
    quotient = [FALSE] * bits
    for place in reversed(range(bits)):
        rest = [a[place], *rest][: used + 1]
        width = len(rest)
        over = g.any(divisor[width:])
        wide = [*divisor, FALSE][:width]
        fits = g.conjunction(over ^ 1, below(g, wide, rest, or_equal=True))
        quotient[place] = fits
        rest = list(chosen(g, fits, difference(g, rest, wide), rest))[: max(used, 0)]
    remainder = [*rest, *constant(0, bits - len(rest))]
    return quotient, chosen(g, g.any(b) ^ 1, a, remainder)


def _magnitude(g: Graph, a: Word) -> Word:
    return chosen(g, a[-1], negated(g, a), a)


def signed_quotient(g: Graph, a: Word, b: Word) -> Word:
    """The quotient of signed words, rounded to zero; by zero 1 for a negative ``a``, else -1."""
    quotient = divided(g, _magnitude(g, a), _magnitude(g, b))[0]
    return chosen(g, g.exclusive(a[-1], b[-1]), negated(g, quotient), quotient)


def signed_remainder(g: Graph, a: Word, b: Word) -> Word:
    """The remainder of signed words with the sign of ``a``; by zero ``a``."""
    remainder = divided(g, _magnitude(g, a), _magnitude(g, b))[1]
    return chosen(g, a[-1], negated(g, remainder), remainder)


def shifted(g: Graph, a: Word, amount: Word, left: bool, fill: int = FALSE) -> Word:
    """``a`` shifted by ``amount`` places; ``fill`` comes in, and is all that is left from the width on."""
    word = list(reversed(a)) if left else list(a)
    bits = len(word)
    stages = (bits - 1).bit_length()
    for stage in range(stages):
        moved = [*word[1 << stage :], *[fill] * min(1 << stage, bits)]
        word = list(chosen(g, amount[stage], moved, word))
    word = list(chosen(g, g.any(amount[stages:]), [fill] * bits, word))
    return list(reversed(word)) if left else word


GATES_OF_A_WAY = 2
"""Gates for the condition of one choice in a tree."""

MOST = 300
"""Choices and words that are looked at for one tree: so that the time grows with a program's size, not its square."""

MOST_LOOKS = 1_000_000
"""So many are looked at for all trees; then every choice is taken as it stands."""


@dataclass(frozen=True, slots=True)
class Tree:
    """``choices`` are the choices above the ``words``, each after those that lead to it."""

    choices: tuple[FNode, ...]
    words: tuple[FNode, ...]

    @property
    def needed(self) -> tuple[FNode, ...]:
        """What must be made before: conditions and words."""
        return (*(choice.arg(0) for choice in self.choices), *self.words)

    def made(self, graph: Graph, made: Mapping[FNode, Word]) -> Word:
        """The word that is chosen; ``made`` has the words of what is ``needed``."""
        ways: dict[FNode, int] = {self.choices[0]: TRUE}
        for node in self.choices:
            condition, then, other = node.args()
            way, bit = ways[node], made[condition][0]
            for target, side in ((then, bit), (other, bit ^ 1)):
                ways[target] = graph.disjunction(ways.get(target, FALSE), graph.conjunction(way, side))
        found = made[self.words[-1]]
        for each in reversed(self.words[:-1]):
            found = chosen(graph, ways[each], made[each], found)
        return found


def tree_of(node: FNode, made: Container[FNode], bits: int, whole: Tree | None = None) -> Tree | None:
    """The tree of choices under ``node``, a choice between words of ``bits`` bits, that takes the fewest gates.

    It may end at choices whose words are ``made`` already, or is the ``whole``. None: no gates are saved, take the
    choice as it stands.
    """
    part = _tree(node, made)
    best, least = None, bits * sum(choice not in made for choice in part.choices)
    for tree in (part, whole or _tree(node, ())):
        gates = GATES_OF_A_WAY * len(tree.choices) + (len(tree.words) - 1) * bits
        if gates < least:
            best, least = tree, gates
    return best


def _tree(node: FNode, ends: Container[FNode]) -> Tree:
    """The choices down from ``node``, as many as MOST allows, none of ``ends``. Constants are the last words."""
    order: list[FNode] = []
    met: set[int] = set()
    choices: list[FNode] = []
    todo: list[FNode | None] = [node]
    while todo:
        each = todo.pop()
        if each is None:
            choices.append(todo.pop())
        elif id(each) not in met:
            met.add(id(each))
            order.append(each)
            if each._content.node_type == op.ITE and len(order) <= MOST and each not in ends:
                _, then, other = each._content.args
                todo += (each, None, other, then)
    inner = set(choices)
    words = sorted((part for part in order if part not in inner), key=lambda part: bool(part.is_constant()))
    return Tree(tuple(reversed(choices)), tuple(words))


Maker = Callable[[Graph, FNode, Sequence[Word]], Word]
Leaves = Callable[[FNode], Word | None]
"""The word of a formula that is given, None of one to be translated; a symbol is always given."""


class Blaster:
    """Translates formulas into ``graph``, each once; a Boolean is a word of one bit.

    ``leaves`` is asked before a formula is translated.
    """

    def __init__(self, graph: Graph, leaves: Leaves) -> None:
        self._graph = graph
        self._leaves = leaves
        self._words: dict[FNode, Word] = {}
        self._trees: dict[FNode, Tree | None] = {}
        self._divided: dict[tuple[FNode, FNode], tuple[Word, Word]] = {}
        self._looks = 0

    def literal(self, formula: FNode) -> int:
        """The literal of a Boolean formula."""
        return self.word(formula)[0]

    def word(self, formula: FNode) -> Word:
        """The word of a formula, the lowest bit first; ValueError for an operator outside QF_BV."""
        stack = [formula]
        while stack:
            node = stack[-1]
            if node in self._words:
                stack.pop()
                continue
            given = self._leaves(node)
            if given is not None:
                self._words[node] = given
                continue
            tree = self._tree(node)
            needed = node.args() if tree is None else tree.needed
            missing = [arg for arg in needed if arg not in self._words]
            if missing:
                stack.extend(missing)
            else:
                self._words[node] = self._made(node) if tree is None else tree.made(self._graph, self._words)
                self._graph.check_size()
        return self._words[formula]

    def _tree(self, node: FNode) -> Tree | None:
        if node.node_type() != op.ITE or node.get_type().is_bool_type():
            return None
        if node not in self._trees and self._looks <= MOST_LOOKS:
            whole = _tree(node, ())
            self._looks += len(whole.choices) + len(whole.words)
            self._trees[node] = tree_of(node, self._words, node.bv_width(), whole)
        return self._trees.get(node)

    def _made(self, node: FNode) -> Word:
        kind = node.node_type()
        words = [self._words[arg] for arg in node.args()]
        if kind in (op.BV_UDIV, op.BV_UREM):
            pair = (node.arg(0), node.arg(1))
            if pair not in self._divided:
                self._divided[pair] = divided(self._graph, *words)
            return self._divided[pair][kind == op.BV_UREM]
        maker = _MAKERS.get(kind)
        if maker is None:
            raise ValueError(f"cannot translate operator {op.op_to_str(kind)}: not Boolean nor bit-vector")
        return maker(self._graph, node, words)


def _bitwise(operation: Callable[[Graph, int, int], int]) -> Maker:
    return lambda g, n, w: [operation(g, x, y) for x, y in zip(w[0], w[1], strict=True)]


def _comparison(compare: Callable[[Graph, Word, Word, bool], int], or_equal: bool) -> Maker:
    return lambda g, n, w: [compare(g, w[0], w[1], or_equal)]


def _turned(word: Word, places: int) -> Word:
    """``word`` rotated to higher places."""
    places %= len(word)
    return [*word[len(word) - places :], *word[: len(word) - places]]


def _extracted(g: Graph, node: FNode, words: Sequence[Word]) -> Word:
    return words[0][node.bv_extract_start() : node.bv_extract_end() + 1]


_MAKERS: dict[int, Maker] = {
    op.BOOL_CONSTANT: lambda g, n, w: [int(n.constant_value())],
    op.BV_CONSTANT: lambda g, n, w: constant(n.constant_value(), n.bv_width()),
    op.AND: lambda g, n, w: [g.all(word[0] for word in w)],
    op.OR: lambda g, n, w: [g.any(word[0] for word in w)],
    op.NOT: lambda g, n, w: [w[0][0] ^ 1],
    op.IMPLIES: lambda g, n, w: [g.disjunction(w[0][0] ^ 1, w[1][0])],
    op.IFF: lambda g, n, w: [g.exclusive(w[0][0], w[1][0]) ^ 1],
    op.EQUALS: lambda g, n, w: [equal(g, w[0], w[1])],
    op.ITE: lambda g, n, w: chosen(g, w[0][0], w[1], w[2]),
    op.BV_NOT: lambda g, n, w: inverted(w[0]),
    op.BV_AND: _bitwise(Graph.conjunction),
    op.BV_OR: _bitwise(Graph.disjunction),
    op.BV_XOR: _bitwise(Graph.exclusive),
    op.BV_CONCAT: lambda g, n, w: [*w[1], *w[0]],
    op.BV_EXTRACT: _extracted,
    op.BV_ULT: _comparison(below, False),
    op.BV_ULE: _comparison(below, True),
    op.BV_SLT: _comparison(signed_below, False),
    op.BV_SLE: _comparison(signed_below, True),
    op.BV_COMP: lambda g, n, w: [equal(g, w[0], w[1])],
    op.BV_NEG: lambda g, n, w: negated(g, w[0]),
    op.BV_ADD: lambda g, n, w: sum_of(g, w[0], w[1]),
    op.BV_SUB: lambda g, n, w: difference(g, w[0], w[1]),
    op.BV_MUL: lambda g, n, w: product(g, w[0], w[1]),
    op.BV_SDIV: lambda g, n, w: signed_quotient(g, w[0], w[1]),
    op.BV_SREM: lambda g, n, w: signed_remainder(g, w[0], w[1]),
    op.BV_LSHL: lambda g, n, w: shifted(g, w[0], w[1], True),
    op.BV_LSHR: lambda g, n, w: shifted(g, w[0], w[1], False),
    op.BV_ASHR: lambda g, n, w: shifted(g, w[0], w[1], False, w[0][-1]),
    op.BV_ROL: lambda g, n, w: _turned(w[0], n.bv_rotation_step()),
    op.BV_ROR: lambda g, n, w: _turned(w[0], -n.bv_rotation_step()),
    op.BV_ZEXT: lambda g, n, w: [*w[0], *[FALSE] * n.bv_extend_step()],
    op.BV_SEXT: lambda g, n, w: [*w[0], *[w[0][-1]] * n.bv_extend_step()],
}
