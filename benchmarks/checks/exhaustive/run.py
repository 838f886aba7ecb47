"""Exact figures of bundled models, without ChainCover: ``python -m benchmarks exhaustive``.

The controller is compiled together with ``search.c``, which goes through all states that it can reach, one input value
after the other. Up to 20 goals the shortest chain comes from a breadth-first search over (state, goals covered); for
more goals, and for several chains, from an integer program over the graph of all states (``covering.py``). Where both
are possible they are compared.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.checks.exhaustive.controllers import CONTROLLERS, MODELS, Declared, Goal, goals, inputs
from benchmarks.checks.exhaustive.covering import Graph, fewest, least

FOLDER = Path(__file__).parent
COUNTED = 1_500_000
"""Up to so many states are counted."""

STATES = 300_000
"""Up to so many states the graph is written down."""

NODES = 30_000_000
SEARCHED = 20
"""Up to so many goals every combination of them is searched."""

SOLVED = 2_000
"""Up to so many states the integer program is asked, too."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What is exact of a model.

    ``states`` is None for more than ``COUNTED``, a length where no chain is possible.
    """

    states: int | None
    unreachable: tuple[str, ...]
    length: int | None
    without_final: int | None
    chains: int = 1


def field_names(subject: Declared, folder: Path) -> list[str]:
    """The fields of the input structure, in order, from the source."""
    text = "".join(file.read_text() for file in sorted(folder.glob("*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    kind = subject.input
    match = re.search(rf"struct \{{([^}}]*)\}} {kind};|{kind} \{{([^}}]*)\}};", text)
    assert match is not None, kind
    return [
        name for line in (match[1] or match[2]).split(";") for name in re.findall(r"(\w+)(?=\s*(?:,|$))", line.strip())
    ]


def header(model: str, asked: Sequence[Goal]) -> str:
    """The file that ``search.c`` includes."""
    subject, folder = CONTROLLERS[model], MODELS / model
    state, panel = subject.names
    fields = field_names(subject, folder)
    chosen = inputs(model, fields)
    condition = tomllib.loads((folder / "chaincover.toml").read_text()).get("final", {}).get("condition", "1")
    rows = ",\n".join("{" + ", ".join(map(str, row)) + "}" for row in chosen)
    parameters = f"OWN *{state}, INPUT *{panel}"
    sets = " ".join(f"{panel}->{field} = values[chosen][{place}];" for place, field in enumerate(fields))
    cases = "\n".join(  # what is begun by a step is part of the state after it
        f"  case {number}: return before->begun >> {number} & 1 && ({goal.then});"
        if goal.then
        else f"  case {number}: return ({goal.before}) && after_{number}(&after->own, {panel});"
        for number, goal in enumerate(asked)
    )
    begins = "\n".join(
        f"  begun |= ({goal.before} ? 1ull : 0) << {number};" for number, goal in enumerate(asked) if goal.then
    )
    afters = "\n".join(
        f"static int after_{number}({parameters}) {{ (void){state}; (void){panel}; return {goal.after}; }}"
        for number, goal in enumerate(asked)
    )
    return f"""#include "{subject.source}"
typedef {subject.state} OWN;
typedef struct {{ OWN own; unsigned long long begun; struct {{ {subject.past.fields} }} past; }} STATE;
typedef {subject.input} INPUT;
#define GOALS {len(asked)}
#define INPUTS {len(chosen)}
#define OPEN_BYTE {subject.fill}
static const unsigned short values[INPUTS][{len(fields)}] = {{
{rows}
}};
static void input(INPUT *{panel}, unsigned long chosen) {{ {sets} }}
static void initial(STATE *whole)
{{
  OWN *{state} = &whole->own;
  whole->begun = 0;
  memset(&whole->past, 0, sizeof whole->past);
  {subject.init}
}}
static void step(STATE *whole, INPUT *{panel})
{{
  OWN *{state} = &whole->own;
  unsigned long long begun = 0;
{begins}
  {subject.step}
  whole->begun = begun;
  __typeof__(whole->past) *past = &whole->past;
  (void)past;
  {subject.past.kept}
}}
static int allowed(STATE *whole, INPUT *{panel})
{{
  OWN *{state} = &whole->own;
  __typeof__(whole->past) *past = &whole->past;
  (void){state}, (void){panel}, (void)past;
  return {subject.past.allowed};
}}
static int is_final(STATE *whole) {{ OWN *{state} = &whole->own; (void){state}; return {condition}; }}
{afters}
static int covers(int goal, STATE *before, INPUT *{panel}, STATE *after)
{{
  OWN *{state} = &before->own, *a = &after->own;
  __typeof__(before->past) *past = &before->past, *then = &after->past;
  (void){state}, (void)a, (void)past, (void)then;
  switch (goal) {{
{cases}
  }}
  return 0;
}}
"""


class Search:
    """A controller, whose source is in ``sources``, compiled in ``folder`` together with the search."""

    def __init__(self, told: str, sources: Path, folder: Path):
        self.program = folder / "search"
        (folder / "controller.h").write_text(told)
        words = ["cc", "-O2", "-w", f"-I{folder}", f"-I{sources}", str(FOLDER / "search.c")]
        subprocess.run([*words, "-o", str(self.program)], check=True)

    @staticmethod
    def of(model: str, asked: Sequence[Goal], folder: Path) -> Search:
        """That of a bundled model."""
        return Search(header(model, asked), MODELS / model, folder)

    def lines(self, kind: str, limit: int) -> list[str]:
        """What the program says."""
        done = subprocess.run([self.program, kind, str(limit)], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    def count(self) -> int | None:
        """How many states there are; None for more than ``COUNTED``."""
        word, number = self.lines("count", COUNTED)[0].rsplit(maxsplit=1)
        return int(number) if word == "states" else None

    def graph(self) -> Graph | None:
        """All states and steps; None for more than ``STATES``."""
        lines = [line.split() for line in self.lines("graph", STATES)]
        if lines[0][0] == "more":
            return None
        arcs = [tuple(map(int, words[1:])) for words in lines if words[0] == "step"]
        finals = frozenset(int(words[1]) for words in lines if words[0] == "final")
        return Graph(int(lines[0][1]), finals, tuple((a[0], a[1], frozenset(a[2:])) for a in arcs))

    def shortest(self) -> tuple[int | None, int | None]:
        """The least length with the final condition, and without it."""
        return self._lengths("shortest", NODES)

    def swept(self) -> tuple[int | None, int | None]:
        """The same of few states and goals: for 18 goals and 500 states 7 s and 50 MB, where the other needs 6 GB."""
        return self._lengths("sweep", COUNTED)

    def _lengths(self, kind: str, limit: int) -> tuple[int | None, int | None]:
        found = dict(line.split() for line in self.lines(kind, limit))
        assert "more" not in found, "too many combinations of states and goals"
        final, anywhere = (int(found[key]) if key in found else None for key in ("final", "anywhere"))
        return final, anywhere


def figures(model: str) -> Figures:
    """Search ``model``."""
    asked, several = goals(model), CONTROLLERS[model].several
    with tempfile.TemporaryDirectory() as folder:
        search = Search.of(model, asked, Path(folder))
        graph = search.graph()
        if graph is None:
            final, anywhere = search.shortest()
            return Figures(search.count(), (), final, anywhere)
        coverable = graph.coverable()
        unreachable = tuple(goal.name for number, goal in enumerate(asked) if number not in coverable)
        if several:
            chains, final = fewest(graph, coverable, graph.finals)
            _, anywhere = fewest(graph, coverable, frozenset(range(graph.states)))
            return Figures(graph.states, unreachable, final, anywhere, chains)
        answers = []
        if graph.states <= SOLVED:
            everywhere = frozenset(range(graph.states))
            answers.append((least(graph, coverable, 1, graph.finals), least(graph, coverable, 1, everywhere)))
        if len(coverable) <= SEARCHED:
            answers.append(Search.of(model, [asked[number] for number in sorted(coverable)], Path(folder)).shortest())
        assert answers, "too many states and goals"
        assert len(set(answers)) == 1, answers
        final, anywhere = answers[0]
        states = Search.of(model, (), Path(folder)).count() if any(goal.then for goal in asked) else graph.states
        return Figures(states, unreachable, final, anywhere)


def expected(model: str) -> dict[str, Any]:
    """What the model's ``expected.toml`` says."""
    return tomllib.loads((MODELS / model / "expected.toml").read_text())


def agrees(found: Figures, said: dict[str, Any]) -> bool:
    """Whether ``expected.toml`` has the figures that were found."""
    run = said["run"][0]
    return (
        said.get("reachable_states") == found.states
        and run.get("length") == found.length
        and run.get("length_without_final", found.length) == found.without_final
        and run.get("chains", 1) == found.chains
        and set(found.unreachable)
        == {name for name, verdict in run.get("verdicts", {}).items() if verdict == "unreachable"}
    )


@click.command()
@click.argument("models", nargs=-1, type=click.Choice(list(CONTROLLERS)))
def main(models: Sequence[str]) -> None:
    """Search MODELS (default: all), and compare with their expected.toml: exit code 1 where it says something else."""
    wrong = False
    for model in models or CONTROLLERS:
        found = figures(model)
        click.echo(f"{model}: {found}")
        if (MODELS / model / "expected.toml").exists() and not agrees(found, expected(model)):
            click.echo(f"{model}: expected.toml says something else", err=True)
            wrong = True
    if wrong:
        raise SystemExit(1)
