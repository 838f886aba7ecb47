"""Exact figures of the rows of the paper's table, without ChainCover: ``python -m benchmarks exhaustive-paper``.

What ``search.c`` is told of their controllers is read from the project files and headers: the names of the fields of
state, output and input, the values of inputs, what is assumed of them, the final condition, and goals of one or two
steps, ``G(A && X(B) -> C)``.
"""

from __future__ import annotations

import itertools
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks import FOLDER
from benchmarks.checks.exhaustive.controllers import Goal, values
from benchmarks.checks.exhaustive.covering import fewest
from benchmarks.checks.exhaustive.run import Search

PAPER = FOLDER / "paper"
ROWS: tuple[Mapping[str, Any], ...] = tuple(tomllib.loads((PAPER / "rows.toml").read_text())["row"])


@dataclass(frozen=True, slots=True)
class Written:
    """A controller as its project file and header say."""

    folder: Path
    project: Mapping[str, Any]

    @staticmethod
    def of(row: Mapping[str, Any]) -> Written:
        """The controller of a row."""
        place = PAPER / row["project"]
        return Written(place.parent, tomllib.loads(place.read_text()))

    @property
    def name(self) -> str:
        """What its functions and types begin with."""
        return self.folder.name

    @property
    def structures(self) -> dict[str, list[str]]:
        """The fields of its structures, by the last word of their names."""
        text = (self.folder / f"{self.name}.h").read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        if "WITH_FAULT" not in self.project["sources"].get("defines", {}):
            text = re.sub(r"#ifdef WITH_FAULT.*?#endif", "", text, flags=re.S)
        found = re.findall(rf"typedef struct \{{([^}}]*)\}} t_{self.name}_(\w+);", text)
        return {kind: re.findall(r"(\w+);", fields) for fields, kind in found}

    @property
    def panel(self) -> str:
        """The structure of its inputs."""
        return "io" if "io" in self.structures else "input"

    def in_c(self, text: str) -> str:
        """A condition over the names of fields, as C over ``own`` (state and output) and ``in``."""
        places = {name: f"own->state.{name}" for name in self.structures["state"]}
        places |= {name: f"own->out.{name}" for name in self.structures.get("output", ())}
        places |= {name: f"in->{name}" for name in self.structures[self.panel]}
        return re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda word: places.get(word[0], word[0]), text)

    def goals(self) -> list[Goal]:
        """Its goals: what holds in a step, and for those of two steps what does in the next one."""
        return [self._goal(each["id"], each["text"]) for each in self.project["property"]]

    def _goal(self, name: str, text: str) -> Goal:
        assert text.startswith("G("), text
        assert text.endswith(")"), text
        antecedent = next(_parts(text[2:-1], "->"))
        now: list[str] = []
        later: list[str] = []
        for part in _parts(antecedent, "&&"):
            inner = part.startswith("X(") and part[2:-1]
            (later if inner else now).append(inner or part)
        assert not any("X(" in part for part in [*now, *later]), text
        return Goal(name, self.in_c(" && ".join(now)), then=self.in_c(" && ".join(later)))

    def inputs(self) -> list[tuple[Any, ...]]:
        """All values of its inputs."""
        ranges = self.project["ranges"]
        prefix = self.project["interface"]["input"][0].removesuffix("*")
        return list(itertools.product(*(values(ranges[prefix + name]) for name in self.structures[self.panel])))

    def header(self, asked: Sequence[Goal]) -> str:
        """The file that ``search.c`` includes."""
        output = "output" in self.structures
        kind, fields = f"t_{self.name}", self.structures[self.panel]
        defines = "".join(
            f"#define {name} {value}\n" for name, value in self.project["sources"].get("defines", {}).items()
        )
        allowed = " && ".join(
            f"({self.in_c(text)})" for text in self.project.get("constraints", {}).get("assume", ["1"])
        )
        arguments = ["in", *(["&own->out"] if output else []), "&own->state"]
        begins = "".join(
            f"  begun |= ({goal.before} ? 1ull : 0) << {n};\n" for n, goal in enumerate(asked) if goal.then
        )
        cases = "".join(
            f"  case {n}: return before->begun >> {n} & 1 && ({goal.then});\n"
            if goal.then
            else f"  case {n}: return {goal.before};\n"
            for n, goal in enumerate(asked)
        )
        chosen = self.inputs()
        rows = ",\n".join("{" + ", ".join(map(str, row)) + "}" for row in chosen)
        sets = " ".join(f"in->{field} = values[chosen][{place}];" for place, field in enumerate(fields))
        init = ", ".join(["&own->state", *(["&own->out"] if output else [])])
        return f"""{defines}#include "{self.name}.c"
typedef struct {{ {kind}_state state; {f"{kind}_output out;" if output else ""} }} OWN;
typedef struct {{ OWN own; unsigned long long begun; }} STATE;
typedef {kind}_{self.panel} INPUT;
#define GOALS {len(asked)}
#define INPUTS {len(chosen)}
#define OPEN_BYTE 0
static const unsigned short values[INPUTS][{len(fields)}] = {{
{rows}
}};
static void input(INPUT *in, unsigned long chosen) {{ {sets} }}
static void initial(STATE *whole) {{ OWN *own = &whole->own; {self.name}_init({init}); }}
static void step(STATE *whole, INPUT *in)
{{
  OWN *own = &whole->own;
  unsigned long long begun = 0;
{begins}  {self.name}_compute({", ".join(arguments)});
  whole->begun = begun;
}}
static int allowed(STATE *whole, INPUT *in) {{ OWN *own = &whole->own; (void)own, (void)in; return {allowed}; }}
static int is_final(STATE *whole) {{ OWN *own = &whole->own; return {self.in_c(self.project["final"]["condition"])}; }}
static int covers(int goal, STATE *before, INPUT *in, STATE *after)
{{
  OWN *own = &before->own;
  (void)own, (void)in, (void)after;
  switch (goal) {{
{cases}  }}
  return 0;
}}
"""


def _parts(text: str, mark: str) -> Iterator[str]:
    """``text`` cut at each ``mark`` that stands in no parentheses."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(mark, at):
            yield text[begin:at].strip()
            begin = at + len(mark)
    yield text[begin:].strip()


def figures(row: Mapping[str, Any]) -> dict[str, int | None]:
    """The number of states of a row, the fewest chains that cover all goals, and their least length in all.

    A single chain comes from the search of all pairs of a state and goals covered, several from the integer program.
    """
    written = Written.of(row)
    goals = written.goals()
    with tempfile.TemporaryDirectory() as folder:
        states = Search(written.header(()), written.folder, Path(folder)).count()
        search = Search(written.header(goals), written.folder, Path(folder))
        chains, (length, _) = 1, search.swept()
        if length is None:
            graph = search.graph()
            assert graph is not None
            assert len(graph.coverable()) == len(goals), "a goal that no run covers"
            chains, length = fewest(graph, graph.coverable(), graph.finals)
    return {"properties": len(goals), "states": states, "chains": chains, "length": length}


@click.command()
def main() -> None:
    """Search the rows of the paper's table, and compare with rows.toml: exit code 1 where it says something else."""
    wrong = []
    for row in ROWS:
        found = figures(row)
        differs = any(row[name] != figure for name, figure in found.items())
        click.echo(f"{row['name']}: {found}{', rows.toml says something else' if differs else ''}")
        wrong += [row["name"]] if differs else []
    if wrong:
        raise SystemExit(1)
