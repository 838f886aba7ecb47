"""A C file that a user may add where the sources alone give no init and no step: told as text to copy.

It gives a model its static objects, an init the values that it takes, and a step the calls that the environment may
make between steps. After it is added, ``chaincover init`` recognises the two functions in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from bmc.errors import NAMED
from bmc.records import dataclass
from chaincover.project.scaffold.entry_points import commands, setter_of, values_of
from chaincover.project.scaffold.facts import Declared, Facts, FunctionFacts
from chaincover.project.scaffold.reading import is_settings
from chaincover.project.scaffold.recognisers import Proposal
from chaincover.project.scaffold.sources import Sources


def recipe(sources: Sources, proposal: Proposal, inits: Sequence[FunctionFacts], base: Path) -> list[str]:
    """What to do, and the file itself, indented by two; empty where nothing is to be said."""
    made = _Recipe(sources.facts, proposal, inits)
    reasons = [*made.static_reason(), *made.value_reason(), *made.command_reason()]
    if not reasons:
        return []
    headers = [Path(os.path.relpath(header, base)).as_posix() for header in sources.headers_of(proposal.step.file)]
    place, more = f"write this at the end of {proposal.step.file}", ""
    if headers:
        file = next(name for name in _file_names() if not (base / name).exists())
        place = f"write {file} beside this file"
        found = any(
            os.path.isdir(each) and base.resolve().is_relative_to(Path(each).resolve()) for each in sources.places
        )
        more = "" if found else f"{Path(os.path.normpath(base / file)).as_posix()} and "
    lines = [*reasons, f"For that {place}, and run the same 'chaincover init' again with {more}--force:"]
    code = [*(f'#include "{header}"' for header in headers), *made.setup(), *made.tick()]
    return [*lines, *(f"  {line}" for line in code)]


def _file_names() -> Iterator[str]:
    """Names for the file, the likeliest first."""
    yield "harness.c"
    yield from (f"harness{number}.c" for number in count(2))


@dataclass(frozen=True)
class _Recipe:
    facts: Facts
    proposal: Proposal
    inits: Sequence[FunctionFacts]

    # objects behind a model

    @property
    def model(self) -> Declared | None:
        """The pointer behind which a reusable model keeps everything, where no init sets all that it holds."""
        step = self.proposal.step
        return step.parameters[0] if self.proposal.letter == "C" and step.parameters and self.members(step) else None

    def members(self, step: FunctionFacts) -> list[Declared]:
        """The pointers to structures that a model holds and that no init sets."""
        pointers = [m for m in self.facts.members(step.parameters[0].type) if m.pointers == 1]
        return [m for m in pointers if self.facts.members(m.type) and m.name not in self.proposal.connected]

    def static_reason(self) -> list[str]:
        """Why a model may need objects."""
        if self.model is None:
            return []
        return [
            f"Objects behind {self.model.name} start without values.",
            "The target's main() may give it static objects, which start with 0.",
        ]

    def connections(self, model: Declared) -> tuple[list[str], list[str]]:
        """The objects behind a model, and the statements that connect them."""
        objects, statements = [], []
        for member in self.members(self.proposal.step):
            known = next((o for o in self.facts.objects if o.what.type == member.type and not o.static), None)
            start = " = {0};   /* write its values here */" if is_settings(member) else ";"
            objects.append(f"extern {known.what};" if known else f"static {member.type} the_{member.name}{start}")
            target = known.what.name if known else f"the_{member.name}"
            statements.append(f"  {model.name}->{member.name} = &{target};")
        return objects, statements

    # values of inits

    def value_reason(self) -> list[str]:
        """Which values are open."""
        return [
            f"{f.name}() takes {', '.join(map(str, values_of(f)))}: values that only you know."
            for f in self.inits
            if values_of(f)
        ]

    def setup(self) -> list[str]:
        """The function that stands for all inits; none where they can be called as they are."""
        model = self.model
        if model is None and not self.value_reason():
            return []
        objects, statements = self.connections(model) if model else ([], [])
        given = {p.name: p for p in ([model] if model else [])}
        for function in self.inits:
            given.update({p.name: p for p in function.parameters if p.pointers})
            for value in values_of(function):
                start = "{0}" if self.facts.members(value.type) else "0"
                statements.append(f"  {value} = {start};   /* write its value here */")
            statements.append(f"  {_call(function)};")
        parameters = ", ".join(map(str, given.values()))
        return [*objects, f"void {self.free('setup')}({parameters or 'void'}) {{", *statements, "}"]

    def free(self, name: str) -> str:
        """``name``, with a number where a function is called so."""
        names = (name, *(f"{name}{number}" for number in range(2, len(self.facts.functions) + 3)))
        return next(each for each in names if self.facts.function(each) is None)

    # what the environment may call

    @property
    def calls(self) -> list[FunctionFacts]:
        """The calls that the environment may make between steps."""
        found = commands(self.facts, self.proposal.step, self.inits)
        return [each for number, each in enumerate(found) if number < NAMED or setter_of(self.facts, each)]

    def command_reason(self) -> list[str]:
        """Which calls the step leaves out."""
        names = ", ".join(f"{function.name}()" for function in self.calls)
        if not names:
            return []
        return [
            f"The step does not call {names}: if the environment does, each call becomes an input of a step around."
        ]

    def tick(self) -> list[str]:
        """The step around the commands and the step; none where there are no commands."""
        step = self.proposal.step
        if not self.calls:
            return []
        given = {p.name: str(p) for p in step.parameters}
        statements = []
        for function in self.calls:
            given[f"call_{function.name}"] = f"_Bool call_{function.name}"
            arguments = []
            for parameter in function.parameters:
                same = next(
                    (p.name for p in step.parameters if p.pointers and p.type == parameter.type), parameter.name
                )
                name = same if parameter.pointers else f"{function.name}_{parameter.name}"
                given.setdefault(name, f"{parameter.type} {name}")
                arguments.append(name)
            statements.append(f"  if (call_{function.name}) {function.name}({', '.join(arguments)});")
        result = str(step.result).strip()
        back = "" if result == "void" else "return "
        return [
            f"{result} {self.free('tick')}({', '.join(given.values())}) {{",
            *statements,
            f"  {back}{_call(step)};",
            "}",
        ]


def _call(function: FunctionFacts) -> str:
    return f"{function.name}({', '.join(p.name for p in function.parameters)})"
