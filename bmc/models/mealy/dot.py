"""Reads a Mealy or Moore machine from DOT, as AALpy and LearnLib write it: a node is a state, an arrow a transition.

A state is called as its node, whatever its label. An arrow of a Mealy machine is labelled ``input/output``, one of a
Moore machine with the input alone; there the labels of the nodes end in the outputs: ``s0|output`` (AALpy),
``0 / output`` (LearnLib), or ``output``. Blanks beside these marks and around outputs mean nothing; others belong to
the names. In an HTML label a tag stands for a blank. The start state is entered by an arrow without a label, from a
node that is called ``__start...`` or drawn without a shape. Subgraphs and other attributes mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise, product

from bmc.errors import InputRefused, Location
from bmc.limits import read_text
from bmc.records import dataclass


@dataclass(frozen=True, slots=True)
class Transition:
    """What the machine does in the state ``source`` on ``input``."""

    source: str
    input: str
    output: str
    target: str
    line: int


@dataclass(frozen=True)
class Machine:
    """A deterministic machine. ``first``: the output of the start state of a Moore machine; None of a Mealy machine."""

    file: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    start: str
    first: str | None
    transitions: tuple[Transition, ...]


def read_machine(file: str, partial: bool = False, separator: str = "/") -> Machine:
    """The machine in ``file``. InputRefused, with its place, if there is none, or none that is deterministic.

    ``partial``: a state may lack inputs, which are not allowed there. ``separator`` stands between input and output,
    once in the label of each arrow of a Mealy machine.
    """
    graph = _Graph(file, read_text(file, "the machine"))
    machine = graph.machine(separator)
    known: dict[tuple[str, str], Transition] = {}
    for made in machine.transitions:
        other = known.setdefault((made.source, made.input), made)
        if other is not made:
            raise graph.refused(
                f"a second arrow leaves '{made.source}' for the input '{made.input}'; the first stands in line "
                f"{other.line}",
                made.line,
                "write one of them: a machine does one thing in each state on each input",
            )
    lacks = (pair for pair in product(machine.states, machine.inputs) if pair not in known)
    if not partial and (pair := next(lacks, None)):
        raise graph.refused(
            f"no arrow leaves '{pair[0]}' for the input '{pair[1]}'",
            graph.lines[pair[0]],
            "write one, or 'partial = true' in the project: then an input is not allowed where no arrow has it",
        )
    return machine


_TOKEN = re.compile(
    r'(?P<blank>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)|(?P<quoted>"(?:[^"\\]|\\.)*+")|(?P<html><(?:[^<>]|<[^<>]*>)*+>)|'
    r"(?P<sign>->|--|[{}\[\]=;,:+])|(?P<word>\w[\w.]*|-?[.\d]+)|(?P<wrong>.)",
    re.S,
)
_KEYWORDS = ("strict", "graph", "digraph", "subgraph", "node", "edge")
_MARKS = ("|", " / ")
"""What stands before the output in the label of a state."""
_SHAPELESS = ("none", "point", "plain", "plaintext")


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """The kind, the text and the line of each token, at last one of the kind ``end``."""
    line = 1
    for found in _TOKEN.finditer(text):
        if found.lastgroup != "blank":
            yield str(found.lastgroup), found[0], line
        line += found[0].count("\n")
    yield "end", "", line


@dataclass(frozen=True, slots=True)
class _Arrow:
    source: str
    target: str
    label: str
    line: int


class _Graph:
    """The one graph of a text: the attributes of each node, the line where it is first named, and the arrows."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.nodes: dict[str, dict[str, str]] = {}
        self.lines: dict[str, int] = {}
        self.arrows: list[_Arrow] = []
        self._tokens = _tokens(text)
        self._kind, self._text, self._line = next(self._tokens)
        strict = self._skip("strict")
        if not self._skip("digraph"):
            raise self.refused("a machine is a directed graph", self._line, "begin with 'digraph NAME {'")
        if self._text != "{":
            self._id()
        if not self._skip("{"):
            raise self._unreadable()
        depth = 1
        while depth:
            depth += self._statement()
        if self._kind != "end":
            raise self._unreadable()
        if strict and len({(arrow.source, arrow.target) for arrow in self.arrows}) < len(self.arrows):
            raise self.refused("a strict graph has one arrow at most between two nodes", 1, "leave out 'strict'")

    def refused(self, text: str, line: int, hint: str = "") -> InputRefused:
        return InputRefused(text, Location(self.file, line), hint)

    def _unreadable(self) -> InputRefused:
        found = f"'{self._text[:40]}'" if self._text else "the end of the file"
        return self.refused(f"this is no DOT: {found} cannot stand here", self._line)

    def _advance(self) -> str:
        """Read a token. Returns its text."""
        text = self._text
        self._kind, self._text, self._line = next(self._tokens)
        return text

    def _skip(self, text: str) -> bool:
        """Whether the next token is this keyword or sign, which is then read."""
        return self._text.lower() == text and bool(self._advance())

    def _id(self) -> str:
        """Read a name: a word, or a string with the pieces that ``+`` adds to it, in which ``\\"`` is a quote."""
        if self._kind not in ("word", "quoted") or self._text.lower() in _KEYWORDS:
            raise self._unreadable()
        if self._kind == "word":
            return self._advance()
        name = re.sub(r'(\\\\)|\\(")|\\\n', r"\1\2", self._advance()[1:-1])
        while self._skip("+"):
            name += self._id()
        return name

    def _value(self) -> str:
        """Read the value of an attribute; of an HTML text what it shows."""
        if self._kind != "html":
            return self._id()
        return " ".join(unescape(re.sub("<[^<>]*>", " ", self._advance()[1:-1])).split())

    def _attributes(self) -> dict[str, str]:
        found = {}
        while self._skip("["):
            while not self._skip("]"):
                name = self._id()
                found[name] = self._value() if self._skip("=") else ""
                if not self._skip(","):
                    self._skip(";")
        return found

    def _statement(self) -> int:
        """Read a statement. Returns by how much it nests deeper."""
        line, word = self._line, self._text.lower()
        if self._skip(";"):
            return 0
        if self._skip("}"):
            return -1
        if self._skip("subgraph") and self._text != "{":
            self._id()
        if self._skip("{"):
            return 1
        if word in ("node", "edge", "graph"):
            self._advance()
            if "label" in self._attributes() and word != "graph":
                raise self.refused("a label of all is the name of none", line, "label each node and each arrow")
            return 0
        name = self._id()
        if self._skip("="):
            self._value()
            return 0
        nodes = [self._node(name, line)]
        while self._skip("->"):
            nodes.append(self._node(self._id(), self._line))
        attributes = self._attributes()
        if len(nodes) == 1:
            self.nodes[name].update(attributes)
        self.arrows += [_Arrow(*pair, attributes.get("label", ""), line) for pair in pairwise(nodes)]
        return 0

    def _node(self, name: str, line: int) -> str:
        """Note the node called ``name``, and read its port."""
        self.nodes.setdefault(name, {})
        self.lines.setdefault(name, line)
        while self._skip(":"):
            self._id()
        return name

    def machine(self, separator: str) -> Machine:
        """The machine that the graph draws."""
        marker, start, arrows = self._transitions()
        labels = {state: drawn.get("label", "") for state, drawn in self.nodes.items() if state != marker}
        mealy = any(separator in arrow.label for arrow in arrows)
        if mealy and all(map(_is_marked, labels.values())):
            hint = f"in a Moore machine no input has a '{separator}'; in a Mealy machine states need no label"
            raise self.refused("an output stands both at each state and at an arrow", arrows[0].line, hint)
        outputs = {} if mealy else self._outputs(labels)
        made = []
        for arrow in arrows:
            given, output = self._parts(arrow, separator) if mealy else (arrow.label, outputs[arrow.target])
            made.append(Transition(arrow.source, given, output, arrow.target, arrow.line))
        inputs = tuple(dict.fromkeys(each.input for each in made))
        return Machine(self.file, tuple(labels), inputs, start, outputs.get(start), tuple(made))

    def _transitions(self) -> tuple[str, str, list[_Arrow]]:
        """The node that marks the start state, this state, and all arrows but the one between them."""
        starts = [arrow for arrow in self.arrows if not arrow.label and _is_hidden(arrow.source, self.nodes)]
        if len(starts) != 1:
            told = f"{len(starts)} arrows show" if starts else "no arrow shows"
            text = f"{told} where the machine starts"
            raise self.refused(text, starts[1].line if starts else 1, "write one: __start0 -> STATE")
        marker, start = starts[0].source, starts[0].target
        arrows = [arrow for arrow in self.arrows if arrow is not starts[0]]
        for arrow in arrows:
            if marker in (arrow.source, arrow.target) or not arrow.label:
                why = f"'{marker}' is no state" if arrow.label else "it has no label"
                text = f"the arrow from '{arrow.source}' to '{arrow.target}' is no transition: {why}"
                raise self.refused(text, arrow.line)
        return marker, start, arrows

    def _parts(self, arrow: _Arrow, separator: str) -> tuple[str, str]:
        """The input and the output of an arrow of a Mealy machine."""
        if arrow.label.count(separator) != 1:
            hint = f"'{separator}' has to stand once in it; another one is given in the project: separator = ' / '"
            raise self.refused(f"the label '{arrow.label}' is not one input and one output", arrow.line, hint)
        given, _, output = arrow.label.partition(separator)
        return given.strip(), output.strip()

    def _outputs(self, labels: dict[str, str]) -> dict[str, str]:
        """The output of each state of a Moore machine. All labels have the same mark before it, or none has one."""
        mark = next((mark for mark in _MARKS if all(mark in label for label in labels.values())), "")
        wrong = [(label, state) for state, label in labels.items() if not label or (not mark and _is_marked(label))]
        if wrong:
            label, state = min(wrong)
            hint = "label each arrow 'input/output', or else each state 'id|output'"
            raise self.refused(f"the label '{label}' of '{state}' tells no output", self.lines[state], hint)
        found = {}
        for state, label in labels.items():
            inner = label[1:-1] if mark == "|" and label[0] + label[-1] == "{}" else label
            found[state] = inner[inner.index(mark) + len(mark) :].strip()
        return found


def _is_hidden(node: str, nodes: dict[str, dict[str, str]]) -> bool:
    """Whether a node is drawn to mark the start state."""
    drawn = nodes[node]
    return node.startswith("__start") or drawn.get("shape") in _SHAPELESS or "invis" in drawn.get("style", "")


def _is_marked(label: str) -> bool:
    """Whether an output seems to stand in the label of a state."""
    return any(mark in label for mark in _MARKS)
