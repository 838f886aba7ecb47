"""C programs: their property functions, the functions that state conditions, and their sources."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence

from bmc.errors import InputRefused
from bmc.models.c.controller.binding import reachable_functions
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.records import dataclass
from bmc.system.names import suggestion
from bmc.system.transition import Condition
from chaincover.project.c_functions import covers_in_code, read_condition_function, read_property_function
from chaincover.project.project_file import Project
from chaincover.subject import SourceFile
from properties.goal import Goal


@dataclass(frozen=True)
class CMaker:
    """A C program that was read for a project, as ``chaincover.project.maker.Maker`` says."""

    project: Project
    model: CModel

    def goals(self) -> Iterator[Goal]:
        """Those of property functions, and of the conditions to be covered in the code."""
        model, patterns = self.model, [pattern for pattern in self.project.property_functions if pattern]
        names = model.functions_matching(patterns)
        for pattern in patterns:
            if not any(c in pattern for c in "*?[") and pattern not in names:
                hint = suggestion(pattern, self.functions())
                raise InputRefused(f"no property function '{pattern}'", self.project.where, hint)
        run = self._run()
        names = [name for name in names if name not in run or (name in patterns and name != model.step_function)]
        yield from [_property_function(model, name, patterns) for name in names]
        yield from covers_in_code(model)

    def constraints(self) -> Sequence[Condition]:
        """The exclusions of the project file."""
        return self.model.exclusions

    def stated(self, function: str) -> Condition | None:
        """What a C function states."""
        if self.model.program.function(function) is None:
            return None
        return read_condition_function(self.model, function)

    def functions(self) -> list[str]:
        """The functions that the sources define."""
        return [function.name for function in self.model.program.defined_functions()]

    def sources(self) -> Iterator[SourceFile]:
        """The source files, each with its code after preprocessing without line markers."""
        files = zip(self.project.sources, self.project.config.files, self.model.program.units, strict=True)
        for name, path, unit in files:
            rows = (row for row in unit.source.text.splitlines() if row.strip() and not row.startswith("#line"))
            yield SourceFile(name, path, "\n".join(rows))

    def _run(self) -> set[str]:
        """The functions that init and step run, themselves included: a property calls the step, none of them does."""
        config, model = self.project.config, self.model
        texts = ["init"] if config.init is None else config.init
        names = [model.step_function, *(text.partition("(")[0].strip() for text in texts)]
        roots = [function for name in names if (function := model.program.function(name)) is not None]
        return {function.name for function in reachable_functions(roots)}


def read(project: Project) -> CMaker:
    """The C program of ``project``. InputRefused with the place of what is wrong."""
    config = project.config
    if project.partial:
        raise InputRefused("'partial' says nothing of a C program", project.where, "leave it out")
    roots = [*project.property_functions, project.final_function, config.assumption, *config.invariant]
    return CMaker(project, read_c(config, [root for root in roots if root]))


def _property_function(model: CModel, name: str, patterns: Sequence[str]) -> Goal:
    """The goal of a property function; where it is none, the message says which pattern made it one."""
    try:
        return read_property_function(model, name)
    except InputRefused as error:
        if name not in patterns:
            fits = next(pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern))
            error.hint += f"; '{name}' is read as a property because functions.properties has '{fits}': if it is none, "
            error.hint += "list there what is one, or [] for none"
        raise
