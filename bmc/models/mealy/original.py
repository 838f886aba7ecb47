"""Runs a machine as it stands in its DOT file: a second reader, which shares no code with the first.

All names are put aside first. What is left are their numbers and signs, in which a pattern finds the statements.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from bmc.errors import CheckDisagreed, LimitReached
from bmc.system.transition import Valuation, ValueType

_NAME = re.compile(
    r'"((?:[^\\"]|\\[\s\S])*+)"|(<(?:<[^>]*>|[^<>])*+>)|(//.*|#.*|/\*[\s\S]*?\*/)|([^\W\d][.\w]*|-?[.\d]+\w*)'
)
_STATEMENT = re.compile(r"(\d+(?:\s*(?:->|:)\s*\d+)*)\s*((?:\[[^]]*\]\s*)*)")


_OUTPUT = (r"\{[^|]*\|(.*)\}|[^|]*\|(.*)", r".*? / (.*)", r"(.*)")
"""Where the output stands in the label of a state: the first of these that fits all labels."""


class RunningMachine:
    """The machine in ``file``, where ``types`` number inputs, states and outputs. CheckDisagreed if it has others."""

    unreadable: Sequence[str] = ()
    notes: Sequence[str] = ()

    def __init__(self, file: str, separator: str, types: Mapping[str, ValueType]) -> None:
        self.name = f"{Path(file).name} read a second time"
        self._names: list[str] = []
        labels, arrows = self._read(Path(file).read_text("utf-8-sig"))
        (state, given, output) = (dict(types[name].labels) for name in ("state", "input", "output"))
        self._moves: dict[tuple[int, int], Valuation] = {}
        try:
            (start,) = (target for _, target, label in arrows if not label)
            mealy = any(separator in label for _, _, label in arrows)
            outputs = {} if mealy else _outputs({node: labels[node] for _, node, _ in arrows})
            for source, target, label in arrows:
                tried, _, result = label.partition(separator) if mealy else (label, "", outputs[target])
                if label:
                    after = {"state": state[target], "output": output[result.strip()]}
                    self._moves[state[source], given[tried.strip() if mealy else tried]] = after
            self._start = {"state": state[start], "output": 0 if mealy else output[outputs[start]]}
        except (KeyError, ValueError) as error:
            raise CheckDisagreed(f"{file}: read a second time it is no such machine: {error!r}") from None

    def _read(self, text: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
        """The label of each node that has one; the two ends of each arrow with its label."""
        labels, arrows = {}, []
        skeleton = re.sub(r"\d+(?:\s*\+\s*\d+)+", self._join, _NAME.sub(self._put_aside, text))
        for chain, lists in _STATEMENT.findall(skeleton):
            nodes = [self._names[int(node.split(":")[0])] for node in chain.split("->")]
            pairs = re.findall(r"(\d+)\s*=\s*(\d+)", lists)
            attributes = {self._names[int(name)]: self._names[int(value)] for name, value in pairs}
            arrows += [(*ends, attributes.get("label", "")) for ends in pairwise(nodes)]
            if len(nodes) == 1 and "label" in attributes:
                labels[nodes[0]] = attributes["label"]
        return labels, arrows

    def _put_aside(self, found: re.Match[str]) -> str:
        quoted, shown, comment, word = found.groups()
        if comment is not None:
            return " "
        if shown is not None:
            word = " ".join(html.unescape(re.sub(r"<[^<>]*>", " ", shown[1:-1])).split())
        if quoted is not None:
            pieces = quoted.split("\\\\")  # a pair of backslashes quotes nothing
            word = "\\\\".join(piece.replace("\\\n", "").replace('\\"', '"') for piece in pieces)
        self._names.append(word)
        return f" {len(self._names) - 1} "

    def _join(self, found: re.Match[str]) -> str:
        self._names.append("".join(self._names[int(number)] for number in re.findall(r"\d+", found[0])))
        return f" {len(self._names) - 1} "

    def run(
        self, inputs: Sequence[Valuation], initial: Valuation | None = None, time_limit: float = 60
    ) -> list[Valuation]:
        end = time.monotonic() + time_limit
        states: list[Valuation] = [{**self._start, **(initial or {})}]
        for values in inputs:
            if time.monotonic() > end:
                raise LimitReached(f"the run of {len(inputs)} steps takes more than {time_limit} s")
            states += self.steps([(states[-1], values)])
        return states

    def runs(
        self, inputs: Sequence[Sequence[Valuation]], initial: Valuation | None = None, time_limit: float = 60
    ) -> list[Valuation]:
        return [state for each in inputs for state in self.run(each, initial, time_limit)[1:]]

    def steps(self, pairs: Sequence[tuple[Valuation, Valuation]], time_limit: float = 60) -> list[Valuation]:
        try:
            return [self._moves[state["state"], values["input"]] for state, values in pairs]
        except KeyError:
            raise CheckDisagreed(f"{self.name}: a step has an input that no arrow from its state has") from None


def _outputs(labels: Mapping[str, str]) -> dict[str, str]:
    """The output of each state of a Moore machine."""
    for pattern in _OUTPUT:
        found = {state: re.fullmatch(pattern, label, re.S) for state, label in labels.items()}
        if all(found.values()):
            return {state: match[match.lastindex or 0].strip() for state, match in found.items() if match}
    raise ValueError("a state without an output")
