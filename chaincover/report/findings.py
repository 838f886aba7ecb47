"""Findings for the terminal: what is wrong, and the run that shows it as a table; a line each where there are many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pysmt.fnode import FNode

from bmc.errors import counted
from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import unframed
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.transition import Run, TransitionSystem, symbols_of
from chaincover.chain import Chain, Failure, Hit, ReadValue
from chaincover.project.names import Labels
from chaincover.report.chain_table import ChainTable, Marks, read_by_goals
from chaincover.report.console import MANY_LINES, Console, say
from chaincover.subject import Subject
from properties.goal import Goal

FINDING = "FINDING:"

EACH = "-v shows the run of each"
"""Where the runs are of findings that are told in a line."""


@dataclass(frozen=True)
class Finding:
    """What is wrong, as ``lines`` of which the first one says it, and the run that shows it; ``file`` has that run."""

    lines: Sequence[str]
    table: ChainTable | None = None
    file: str = ""

    def show(self, out: Console) -> None:
        """All of it on ``out``."""
        for text in self.lines:
            say(out, text, "" if text.startswith(" ") else "bold red")
        if self.table is not None:
            most = 0 if out.everything and not self.file else MANY_LINES
            self.table.show(out, most, self.file or EACH.partition(" ")[0])


def show_findings(out: Console, findings: Sequence[Finding], room: int, rest: str) -> None:
    """Each of ``findings`` with its run while there is ``room`` for so many lines, the first one in any case; the
    others in a sentence each, of very many only the first ones: ``rest`` says where the others are."""
    used, runs, short = 0, 0, out.part()
    for number, finding in enumerate(findings):
        part, others = out.part(), out.part()
        finding.show(part)
        for other in findings[number + 1 : number + 1 + MANY_LINES]:
            say(others, other.lines[0], "bold red")
        left = min(len(others.kept), MANY_LINES)
        if out.everything or not number or (not short.kept and used + len(part.kept) + left <= room):
            out.show(part)
            used += len(part.kept)
        else:
            say(short, finding.lines[0], "bold red")
            runs += finding.table is not None
    if short.kept:
        out.show(short.cut(MANY_LINES, rest))
        if runs:
            say(out, f"  {counted(runs, 'finding')}: {EACH}")


def read_by(system: TransitionSystem, formulas: Iterable[FNode]) -> Counter[str]:
    """The variables of the program that the framed ``formulas`` read, also through what the tool remembers of them."""
    memory = {var.name: var.next for var in system.state if var.role == "internal"}
    names = [*dict.fromkeys(unframed(symbol)[0] for formula in formulas for symbol in symbols_of(formula))]
    for name in names:
        if name in memory:
            names += sorted(names_in([memory[name]]) - {*names})
    return Counter(name.removesuffix(DEFINED) for name in names if name not in memory or name.endswith(DEFINED))


def formulas_of(goal: Goal) -> list[FNode]:
    """What the property of a goal says: antecedent and consequent, and those of its deadline."""
    deadline = goal.deadline
    formulas = [goal.antecedent, goal.consequent]
    formulas += [] if deadline is None else [deadline.antecedent, deadline.condition]
    return [formula for formula in formulas if formula is not None]


def property_table(
    subject: Subject, goal: Goal, run: Run, values: Sequence[ReadValue], hits: Sequence[Hit]
) -> ChainTable:
    """The steps of ``run`` with what the property of ``goal`` reads; marked are those ``values``, which are not so."""
    marks = {(each.variable, each.step): expectation(each) for each in values}
    read = read_by(subject.system, formulas_of(goal))
    return run_table(subject, run, hits, read, marks)


def table_of(
    subject: Subject, chain: Chain, read: Mapping[str, int] | None = None, marks: Marks | None = None
) -> ChainTable:
    """The steps of a chain, values called and steps timed as the project of ``subject`` says; ``read``: how many goals
    read each variable, where not all of these do."""
    read = read_by_goals(subject) if read is None else read
    return ChainTable(subject.system, chain, read, subject.value_names, subject.settings.period, marks)


def run_table(subject: Subject, run: Run, hits: Sequence[Hit], read: Iterable[str], marks: Marks) -> ChainTable:
    """The steps of ``run`` with the variables that are ``read`` or marked."""
    chain = Chain(run, tuple(hit.goal for hit in hits), tuple(hits))
    return table_of(subject, chain, Counter(read), marks)


def until(run: Run, step: int) -> Run:
    """The steps of ``run`` up to ``step``, which is the last one that is told."""
    return Run(run.states[: step + 1], run.inputs[: step + 1])


def expectation(value: ReadValue) -> str:
    """What is said of a value that is not as expected, behind it."""
    return f"(expected {value.expected})" if value.expected else "(fails)"


def violation(subject: Subject, failure: Failure, lines: Sequence[str], file: str) -> Finding:
    """The finding that a run violates a property, as ``lines`` say."""
    goal = next(goal for goal in subject.goals if goal.name == failure.goal)
    table = property_table(subject, goal, failure.run, failure.values, [Hit(goal.name, failure.step, False)])
    return Finding(lines, table, file)


def told(system: TransitionSystem, value: ReadValue, length: int, labels: Labels) -> str:
    """A value that is not as expected, in a sentence: those of a state are before a step of a run of so many steps, or
    at its end, those of inputs in a step."""
    inputs = {var.name for var in system.inputs}
    when = f"before step {value.step}" if value.step < length else "at its end"
    when = f"in step {value.step}" if value.variable in inputs else when
    called = labels.get(value.variable, {})
    truth = system.variable(value.variable).type.truth
    actual = {"0": "false", "1": "true"}.get(value.actual, value.actual) if truth else labelled(value.actual, called)
    expected = f", expected {labelled(value.expected, called)}" if value.expected else ""
    return f"{when} {value.variable} is {actual}{expected}"


def labelled(text: str, labels: Mapping[int, str]) -> str:
    """``text`` with labels in place of the whole numbers that have one, but for those of ranges."""
    return re.sub(r"(?<![\w.])-?\d+(?![\w.])", lambda at: labels.get(int(at[0]), at[0]), text)
