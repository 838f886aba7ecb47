"""What the claims of one chain speak about, and runs judged by simulation.

All goals are taken as goals of one step at most that may share steps, by monitors: every check of a proof is about
these. The monitors are made again from the goals that the file names (``properties.one_step``); what a certificate says
of them must be that. Whether a chain covers its goals is judged by these as they are, never by a monitor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pysmt.fnode import FNode

from bmc.errors import counted
from bmc.formulas.evaluate import compile_formulas
from bmc.records import dataclass
from bmc.system.original import Opener
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.certificate import Certificate, monitor_texts
from chaincover.claims import Claim
from chaincover.problem import Problem
from chaincover.verification.report import HOLDS, WRONG, Line, limited
from chaincover.weights import INIT
from properties.goal import kind
from properties.monitor import Monitor


@dataclass(frozen=True)
class Setting(Problem):
    """The system, all its goals, the final condition and the overlap, and what simulation tells of a run.

    ``oldest``: so many steps before its last one some goal began that was made one of a step by monitors.
    """

    oldest: int = 0

    @property
    def formulas(self) -> list[FNode]:
        """All framed formulas that claims can be about."""
        return [*(goal.antecedent for goal in self.goals), *self.end_formulas(0)]

    def knows(self, nodes: Sequence[str]) -> bool:
        """Whether ``nodes`` can follow each other: goals, each once, but for init at the front and the end at the end.

        A path has at least two nodes.
        """
        first, last = nodes[:1] == (INIT,), nodes[-1:] == (self.end,)
        inner = nodes[first : len(nodes) - last]
        return len(nodes) > 1 and len(set(inner)) == len(inner) and all(node in self.by_name for node in inner)

    @cached_property
    def _simulator(self) -> Simulator:
        return Simulator(self.system)

    @cached_property
    def _monitor(self) -> Monitor:
        return Monitor(list(self.goals))

    def sound(self, run: Run) -> int:
        """How many steps of ``run`` from its beginning are allowed and defined."""
        pairs = zip(run.states, run.inputs, strict=False)
        return next((k for k, (s, i) in enumerate(pairs) if not self._simulator.allowed(s, i)), run.length)

    def starts_in_init(self, run: Run) -> bool:
        """Whether ``run`` begins in a start state."""
        return bool(compile_formulas([self.system.init_formula])(run.states[0])[0])

    def covered(self, run: Run) -> dict[str, list[int]]:
        """For each goal the steps from which ``run`` covers it."""
        return self._monitor.covered(run)

    def ends_well(self, run: Run, step: int) -> bool:
        """Whether a chain may end after ``step`` steps of ``run``."""
        return self.final is None or bool(compile_formulas([self.final])(run.states[step])[0])


@dataclass(frozen=True)
class Statement:
    """What is to be proved again: ``claims`` about runs of ``setting``, whose steps the ``original``
    takes, and the certificate ``proof`` that they rest on.

    A chain covers the goals ``covered`` (None: there is none), and none is shorter than ``lower``. ``invariants`` of
    the program are said to be proved. ``beyond`` are goals with a test that is too long to be stored.
    """

    setting: Setting
    original: Opener
    proof: Certificate | None
    claims: Sequence[Claim]
    covered: Sequence[str] | None = None
    lower: int = 0
    invariants: Sequence[str] = ()
    beyond: Collection[str] = ()


MONITORS = "monitors"


def monitored_setting(setting: Setting, proof: Certificate | None) -> tuple[Setting, Line | None]:
    """``setting`` with monitors, and whether ``proof`` has those of its goals; None where it speaks of none.

    A certificate names the goals whose monitors it has; without one, and where it is wrong, all goals have theirs.
    """
    named = {} if proof is None else proof.monitors
    changed, made = setting.in_one_step(named)
    details = [*_unlike({} if made is None else monitor_texts(made), named)]
    if named:
        changed = _with_those_alike(setting, changed, named)
        details += [f"{name}: none is told" for name in _without(setting, changed, named)]
    if not named or details:
        changed, made = setting.in_one_step(setting.names)
    if proof is not None and made is not None and not named:
        details = _none_told(proof, monitor_texts(made))
    oldest = 0 if made is None else max(made.earlier.values(), default=0)
    changed = replace(changed, overlap="allow", oldest=oldest)  # goals of no step share none
    if details:
        return changed, Line(MONITORS, WRONG, f"{counted(len(details), 'monitor')} not as goals ask", limited(details))
    if not named or made is None:
        return changed, None
    text = f"{counted(len(made.goals), 'goal')} told by one step each, made again from the properties"
    return changed, Line(MONITORS, HOLDS, text)


def _none_told(proof: Certificate, expected: Collection[str]) -> list[str]:
    """Which of the monitors ``expected`` are those of goals that ``proof`` speaks of, though it names no monitors."""
    told = {*proof.goals, *(node for fact in (*proof.edges, *proof.paths) for node in fact.path)}
    return [f"{name}: none is told" for name in expected if name in told]


def _unlike(expected: Mapping[str, str], named: Mapping[str, str]) -> Iterator[str]:
    """Where the monitors ``named`` by the certificate are not those that are ``expected``."""
    for name in {**expected, **named}:
        if expected.get(name) != named.get(name):
            yield f"{name}: {expected.get(name) or 'of no goal that the file names'}"


def _with_those_alike(setting: Setting, changed: Setting, named: Collection[str]) -> Setting:
    """``changed``, with the monitors of the goals ``named`` for those too that are of one kind with them."""
    kinds = {goal.name: kind(goal, setting.overlap) for goal in setting.goals}
    first = {kinds[name]: changed.by_name[name] for name in named if name in kinds}
    others = (goal if goal.name in named else first.get(kinds[goal.name], goal) for goal in changed.goals)
    goals = tuple(replace(goal, name=name) for goal, name in zip(others, setting.names, strict=True))
    return replace(changed, goals=goals)


def _without(setting: Setting, changed: Setting, named: Collection[str]) -> Collection[str]:
    """The goals that need a monitor, and have none."""
    left = replace(changed, overlap=setting.overlap).of({*setting.names} - {*named})
    made = left.in_one_step(left.names)[1]
    return () if made is None else [*made.earlier]
