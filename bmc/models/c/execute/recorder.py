"""What one symbolic run records, and which variables it reads and writes, by what its outcome depends on.

Recorded are assumptions, assertions, possible undefined behaviour, the decisions that were taken, and reads of volatile
variables: these count as read by every access, whether the outcome depends on it or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location
from bmc.formulas.evaluate import names_in
from bmc.formulas.terms import FALSE, TRUE, both, either, implies, is_false, is_true, negate
from bmc.models.c.execute.memory import Content, Key, MemObject
from bmc.models.c.execute.variables import is_variable, number_of, symbol_content, variable_name, variable_type
from bmc.models.c.source.program import Function
from bmc.models.c.source.types import CType, Path, StructType, type_at
from bmc.records import dataclass
from bmc.system.transition import Condition, conjunction

Evaluation = tuple[FNode, FNode, tuple[FNode, ...]]
"""One evaluation of a decision: path condition of the enclosing calls, path condition in the function, and the values
of the atomic conditions in source order (of a ``switch``: when each label is chosen)."""


@dataclass(frozen=True, slots=True)
class TooManyTurns:
    """Steps with more turns of a loop, or a deeper recursion, than are executed: those where ``formula`` holds.

    ``told`` says that there are none, with ``{}`` for the place. Where ``endless`` holds the loop never ends.
    """

    name: str
    told: str
    where: Location
    formula: FNode
    endless: FNode


@dataclass(eq=False, slots=True)
class Rounds:
    """How often the loops and the recursion of a step go round.

    ``excluded``: steps that have too many turns, by what goes round and the number of turns; ``going``: when a run goes
    on after each smaller number.
    """

    excluded: dict[tuple[object, str], TooManyTurns] = field(default_factory=dict)
    going: dict[object, dict[int, FNode]] = field(default_factory=dict)

    def note(self, key: object, turns: int, happens: FNode) -> None:
        """Note that a run goes on after so many ``turns`` where ``happens`` holds."""
        going = self.going.setdefault(key, {})
        going[turns] = either(going.get(turns, FALSE()), happens)

    def exclude(self, key: object, found: TooManyTurns) -> None:
        """Exclude the steps with too many turns that ``found`` describes, beside those that are excluded already."""
        before = self.excluded.get((key, found.name))
        if before is not None:
            found = replace(
                found,
                formula=either(before.formula, found.formula),
                endless=either(before.endless, found.endless),
            )
        self.excluded[key, found.name] = found


@dataclass(eq=False, slots=True)
class Recorder:
    """``base`` is the path condition of the enclosing calls; the path condition given to each method comes on top.

    ``covers``: what the code asks to be covered, each evaluation by itself.
    ``limits`` is what all runs' inputs satisfy; only what asks a solver needs it.
    ``decisions`` holds the different evaluations of each decision by the ``id`` of its syntax node (``decisions``
    says which node), ``entered`` the functions that were called, in this order,
    ``unwritten`` the volatile variables that were read while they may not have been written yet, and where first.
    ``bounds`` hold in every reachable state. ``rounds``: how often loops and recursion go round.
    ``work``: statements executed, and cells of memory read or written.
    """

    assumptions: list[Condition] = field(default_factory=list)
    asserts: list[Condition] = field(default_factory=list)
    covers: list[Condition] = field(default_factory=list)
    undefined_behaviour: list[Condition] = field(default_factory=list)
    decisions: dict[int, dict[Evaluation, None]] = field(default_factory=dict)
    entered: dict[Function, None] = field(default_factory=dict)
    unwritten: dict[Key, Location] = field(default_factory=dict)
    base: FNode = field(default_factory=TRUE)
    limits: FNode = field(default_factory=TRUE)
    bounds: FNode = field(default_factory=TRUE)
    rounds: Rounds = field(default_factory=Rounds)
    work: int = 0

    def note_undefined(self, kind: str, where: Location, pc: FNode, when: FNode) -> None:
        """Undefined behaviour of this ``kind`` happens on the path ``pc`` when ``when`` holds."""
        formula = both(both(self.base, pc), when)
        if not is_false(formula):
            self.undefined_behaviour.append(Condition(kind, formula, where))

    def assume(self, where: Location, pc: FNode, condition: FNode) -> None:
        """The code assumes ``condition`` on the path ``pc``."""
        formula = implies(both(self.base, pc), condition)
        if not is_true(formula):
            self.assumptions.append(Condition("assumption", formula, where))

    def check(self, where: Location, pc: FNode, condition: FNode) -> None:
        """The code asserts ``condition`` on the path ``pc``."""
        self.asserts.append(Condition("assertion", implies(both(self.base, pc), condition), where))

    def cover(self, text: str, where: Location, pc: FNode, condition: FNode) -> None:
        """The code asks for a run that comes along the path ``pc`` when ``condition`` holds; ``text`` is how."""
        self.covers.append(Condition(text, both(both(self.base, pc), condition), where))

    def decide(self, node: object, pc: FNode, values: Iterable[FNode]) -> None:
        """The decision at the syntax node ``node`` is evaluated on the path ``pc``; its conditions have ``values``."""
        self.decisions.setdefault(id(node), {})[self.base, pc, tuple(values)] = None

    @property
    def defined(self) -> FNode:
        """No undefined behaviour happens, all assumptions hold, and no loop has too many turns."""
        return conjunction([self.without_undefined, *(negate(each.formula) for each in self.rounds.excluded.values())])

    @property
    def too_many_turns(self) -> list[Condition]:
        """What is excluded, beside undefined behaviour."""
        return [Condition(each.name, each.formula, each.where) for each in self.rounds.excluded.values()]

    @property
    def without_undefined(self) -> FNode:
        """No undefined behaviour happens, and all assumptions hold, whatever turns loops have."""
        happens = [place.formula for place in self.undefined_behaviour]
        assumed = [each.formula for each in self.assumptions]
        return conjunction([*map(negate, happens), *assumed, self.bounds])


_SETUP_HINTS = dict.fromkeys(
    ("uninitialised read", "null or unset pointer"),
    "set it there, or in a setup function of your own: objects that init reads can be set by a function that is "
    "listed before it in [functions] init",
)
"""What to do about undefined behaviour of init, by its kind."""


@dataclass(frozen=True)
class StepResult:
    """What one symbolic step made of memory: cells at its end, definedness bits kept, checks recorded."""

    start: Mapping[Key, Content]
    final: Mapping[Key, Content]
    shadowed: frozenset[Key]
    recorder: Recorder


def undefined_in_init(found: Condition) -> InputRefused:
    """The refusal of an init that has the undefined behaviour ``found``."""
    return InputRefused(f"init has undefined behaviour: {found.name}", found.where, _SETUP_HINTS.get(found.name, ""))


def is_written(key: Key, result: StepResult) -> bool:
    """Whether the step may change a variable."""
    return is_variable(key) and result.final[key] != symbol_content(key, key in result.shadowed)


def read_names(result: StepResult) -> set[str]:
    """Names of the variables on whose values at its start the step depends.

    A variable that only keeps its value where it is not written is not read by that.
    """
    terms = [result.recorder.defined, *(each.formula for each in result.recorder.asserts)]
    for key, content in result.final.items():
        term = number_of(key, content) if is_variable(key) else None
        if term is not None:
            terms += _computed_from(term, variable_type(key).value_type().symbol(variable_name(*key)))
    return names_in(terms)


def _computed_from(term: FNode, own: object) -> list[FNode]:
    """The parts of a choice, without the leaves that keep ``own``."""
    found: list[FNode] = []
    seen: set[FNode] = set()
    todo = [term]
    while todo:
        node = todo.pop()
        if node in seen or node is own:
            continue
        seen.add(node)
        if node.is_ite():
            found.append(node.arg(0))
            todo += [node.arg(1), node.arg(2)]
        else:
            found.append(node)
    return found


def is_volatile(key: Key, through: Mapping[MemObject, Collection[Path]]) -> bool:
    """Whether a variable is volatile: its object, a member around it, or what it is accessed ``through``."""
    obj, path = key
    if obj.volatile or any(path[: len(other)] == other for other in through.get(obj, ())):
        return True
    ctype: CType = obj.ctype
    for number, part in enumerate(path, 1):
        members = ctype.members() if isinstance(ctype, StructType) else []
        whole = isinstance(ctype, StructType) and ctype.is_union
        if any(member.volatile and (whole or member.name == part) for member in members):
            return True
        ctype = type_at(obj.ctype, path[:number])
    return False


def unwritten(key: Key, content: Content) -> FNode:
    """When a variable's cell still holds the value from the step's start, as no write has reached it."""
    if not is_variable(key) or not isinstance(content.term, FNode):
        return FALSE()
    own = symbol_content(key, shadowed=False).term
    when: dict[FNode, FNode] = {}
    todo = [content.term]
    while todo:
        node = todo[-1]
        branches = node.args()[1:] if node.is_ite() else ()
        missing = [branch for branch in branches if branch not in when]
        if missing:
            todo += missing
            continue
        todo.pop()
        if branches:
            condition = node.arg(0)
            then, other = (when[branch] for branch in branches)
            when[node] = either(both(condition, then), both(negate(condition), other))
        else:
            when[node] = TRUE() if node is own else FALSE()
    return when[content.term]
