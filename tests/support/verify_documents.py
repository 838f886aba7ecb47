"""Chains to be verified: generated once, with certificates that the tests know to be true."""

from __future__ import annotations

import copy
import functools
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from command_line import MODELS, Outcome, chaincover, write_files
from small_programs import program, project

from chaincover.certificate import Certificate, PathFact, as_data, from_data
from chaincover.formats.output import to_json

CRUISE = MODELS / "cruise"

Document = dict[str, Any]
Change = Callable[[Document], None]

DOORS = program(
    """switch (s->n) {
  case 0: s->n = i->a; break;
  case 1: s->n = 5; break;
  case 2: s->n = 6; break;
  case 3: s->n = 4; break;
  case 4: s->n = 0; break;
  case 5: s->n = 7; break;
  case 6: s->n = 3; break;
  case 7: s->n = 4; break;
  }"""
)
"""From 0 to 4 at once, or in four steps through the door 1 or 3: the one is near to 0, the other to 4, none to both."""
DOORS_PROJECT = project("[interface]\ninput = ['i->a']\n[ranges]\na = [0, 1, 2, 4]")
DOORS_GOALS = ("--property", "door: cover(n == 1 || n == 3)", "--property", "room: cover(n == 4)")
DOORS_PROOF = Certificate(
    goals=("door", "room"),
    end="end",
    overlap="allow",
    edges=(
        PathFact(("init", "door"), 1),
        PathFact(("init", "room"), 1),
        PathFact(("door", "room"), 1),
        PathFact(("room", "door"), 2),
        PathFact(("door", "end"), 0),
        PathFact(("room", "end"), 0),
    ),
    paths=(PathFact(("init", "door", "room"), 4),),
    order_bound=3,
    lower=3,
)


def verify(document: Document, folder: Path, path: Path, *options: str, **variables: str) -> Outcome:
    (folder / "chain.json").write_text(to_json(document))
    return chaincover("verify", path, folder, "--json", *options, **variables)


def verdicts(outcome: Outcome) -> dict[str, str]:
    return {line["check"]: line["verdict"] for line in outcome.json["checks"]}


def texts(outcome: Outcome, check: str) -> str:
    line = next(line for line in outcome.json["checks"] if line["check"] == check)
    return "\n".join([line["text"], *line["details"]])


def wrong(outcome: Outcome) -> set[str]:
    return {check for check, verdict in verdicts(outcome).items() if verdict == "WRONG"}


def written(proof: Certificate) -> Document:
    """A certificate as it is read from a file."""
    data: Document = json.loads(to_json(as_data(proof)))
    return data


def claimed(document: Document) -> Certificate:
    """What the certificate of ``document`` claims."""
    return from_data(document["certificate"])


def claim(document: Document, **facts: Any) -> None:
    """Let the certificate of ``document`` claim other ``facts``."""
    document["certificate"] = written(replace(claimed(document), **facts))


def direct_proof(document: Document, invariants: list[str]) -> Document:
    """The certificate of a bound that follows from the distances in the document's graph."""
    graph, lower = document["graph"], document["bounds"]["lower"]
    bounds = [(e["from"], e["to"], e["weight"]) for e in graph["edges"]]
    bounds += [(e["from"], e["to"], e["at_least"]) for e in graph["open"]]
    nodes = {graph["nodes"][0], *document["settings"]["goals"], graph["nodes"][-1]}
    proof = Certificate(
        goals=tuple(document["settings"]["goals"]),
        end=graph["nodes"][-1],
        overlap=document["settings"]["overlap"],
        invariants=tuple(invariants),
        edges=tuple(PathFact((a, b), steps) for a, b, steps in bounds if {a, b} <= nodes),
        order_bound=lower,
        lower=lower,
    )
    return written(proof)


def generated(folder: Path, path: Path, *options: str) -> Document:
    assert chaincover("generate", path, "-o", folder, "--no-replay", "-q", *options).code == 0
    document: Document = json.loads((folder / "chain.json").read_text())
    return document


@functools.cache
def _made_cruise() -> Document:
    with tempfile.TemporaryDirectory() as folder:
        document = generated(Path(folder), CRUISE)
    document["certificate"] = direct_proof(document, ["one of 8 reachable states"])
    return document


def cruise_document() -> Document:
    """A chain of 9 steps, and the certificate of that bound by direct distances."""
    return copy.deepcopy(_made_cruise())


@functools.cache
def _made_doors() -> Document:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_doors(folder)
        document = generated(folder / "out", folder, *DOORS_GOALS)
    assert document["bounds"]["length"] == document["bounds"]["lower"] == 3
    document["certificate"] = written(DOORS_PROOF)
    return document


def write_doors(folder: Path) -> None:
    """The program of ``doors_document``."""
    write_files(folder, {"c.c": DOORS, "chaincover.toml": DOORS_PROJECT})


def doors_document() -> Document:
    """A chain of 3 steps, and the certificate of that bound by distances and one sub-path."""
    return copy.deepcopy(_made_doors())


def path(document: Document, *nodes: str) -> Document:
    """The claim on the path of these ``nodes``."""
    found: Document = next(e for e in document["certificate"]["claims"] if e.get("path") == [*nodes])
    return found


def trivial(document: Document) -> tuple[PathFact, ...]:
    """The edges of its certificate, which say nothing."""
    return tuple(replace(edge, at_least=0) for edge in claimed(document).edges)


def rest_on_exhaustion(document: Document) -> None:
    """No distances but the trivial ones: the bound rests on the search over all runs."""
    claim(document, edges=trivial(document), order_bound=0, exhausted=8)
