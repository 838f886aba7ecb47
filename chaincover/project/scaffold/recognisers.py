"""The interface styles of C code generators, one recogniser each (see docs/reference/init.md).

Before them: what a recogniser sees and says, and the words by which names are judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol

from bmc.records import dataclass
from chaincover.project.scaffold.facts import Declared, Facts, FunctionFacts, ObjectFacts

STEP_WORDS = ("step", "compute", "tick", "update", "run", "loop", "cycle", "main", "output", "do")
INIT_WORDS = ("initialize", "initialise", "init", "reset", "start", "setup")
LONGEST_NAME = 31
"""Code generators cut longer names: ``SeatBeltReminder_initialize`` may end in ``_initial`` or ``_ini``."""
MOST_FOR_CALLS = 30
"""What the functions that a step calls may add to its score."""
_END_WORDS = ("terminate", "term", "deinit", "exit", "stop")
_PROPERTY_WORDS = ("final", "assumption", "invariant")


@dataclass(frozen=True)
class Proposal:
    """One reading of a program: its step function, and why; roles by patterns of variable names.

    ``score`` orders proposals, the greatest first. ``roles`` maps input, state, output and ignore to patterns.
    """

    letter: str
    title: str
    step: FunctionFacts
    why: tuple[str, ...]
    score: int
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Style(Protocol):
    """Recognises one way in which generated code declares its interface."""

    @property
    def letter(self) -> str: ...

    @property
    def title(self) -> str: ...

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        """The proposal with ``function`` as step, None if it does not look like one of this style."""
        ...


def step_candidates(facts: Facts) -> list[FunctionFacts]:
    """Functions that may be a step: neither static nor driving others, no init, no property."""
    return [f for f in facts.functions if not (f.static or f.drives or _is_other(facts, f))]


def _is_other(facts: Facts, function: FunctionFacts) -> bool:
    name = function.name
    if re.match(r"p_|p\d", name) or name in _PROPERTY_WORDS:
        return True
    if "__CPROVER_assume" in function.called:
        return True
    if ends_in(name, INIT_WORDS) is not None or ends_in(name, _END_WORDS) is not None or _cut_init(name):
        return True
    return any(f"_{word}_" in name and facts.function(name.replace(f"_{word}_", "_", 1)) for word in INIT_WORDS)


def ends_in(name: str, words: Iterable[str]) -> str | None:
    """The first of ``words`` that ``name`` is or ends in, as a word of its own (``X_step``, ``doStep``)."""
    for word in words:
        if re.search(rf"(^|_|\d)(?i:{word})\d?$", name) or re.search(rf"[a-z]{word.capitalize()}$", name):
            return word
    return None


def stem(name: str, words: Iterable[str]) -> str:
    """``name`` without the word that it ends in."""
    word = ends_in(name, words) or (_cut_init(name) if words is INIT_WORDS else None)
    return re.sub(rf"_?(?i:{word})\d?$", "", name) if word else name


def _cut_init(name: str) -> str | None:
    """The beginning of an init's word that a name of the greatest length ends in, ``initial`` or ``ini``."""
    last = name.rpartition("_")[2]
    cut = len(name) == LONGEST_NAME and len(last) > 2 and "initialize".startswith(last.lower())
    return last if cut else None


def judged(facts: Facts, style: Style, function: FunctionFacts, base: int, why: Iterable[str]) -> Proposal:
    """A proposal whose score counts what speaks for any step: its name, its callers, an init beside it."""
    reasons, score = list(why), base
    word = ends_in(function.name, STEP_WORDS)
    if word:
        score += 30 - STEP_WORDS.index(word)
        reasons.append(f"its name {'is' if function.name.lower() == word else 'ends in'} '{word}'")
    inner = len(facts.reached([function])) - 1
    if inner:
        score += min(2 * inner, MOST_FOR_CALLS)
        reasons.append(f"{inner} other function{'s' * (inner > 1)} of the program work{'s' * (inner == 1)} for it")
    callers = [caller for caller in facts.callers(function.name) if not _is_other(facts, caller)]
    drivers = [caller for caller in callers if caller.drives]
    if drivers:
        loop = any(call.function == function.name and call.repeated for call in drivers[0].calls)
        score += 35 if loop else 20
        reasons.append(f"{drivers[0].name}() in {file_name(drivers[0].file)} calls it{' in its loop' if loop else ''}")
    if len(callers) > len(drivers):
        score -= 40
    elif not drivers:
        reasons.append("no other function calls it")
    found = [init for init, _ in init_functions(facts, function)]
    if found:
        score += 15
        reasons.append(f"{found[0].name}() belongs to it")
    return Proposal(style.letter, style.title, function, tuple(reasons), score)


def init_functions(facts: Facts, step: FunctionFacts) -> list[tuple[FunctionFacts, str]]:
    """The functions to run before the first step, in order, each with the reason.

    What main calls beside the step, else the best one by name; one that another one calls is left out.
    """
    own = stem(step.name, STEP_WORDS)
    found: list[tuple[tuple[int, int], FunctionFacts]] = []
    for function in facts.functions:
        within = _init_within(function.name, step.name)
        if within and not function.static and _fits(function, step):
            found.append(((0, INIT_WORDS.index(within)), function))
            continue
        word = ends_in(function.name, INIT_WORDS) or ("initialize" if _cut_init(function.name) else None)
        if word and not function.static and function is not step and _fits(function, step):
            near = _nearness(stem(function.name, INIT_WORDS), own)
            if near is None and function.file == step.file:
                near = _near_by_file(function, step)
            if near is not None:
                found.append(((near, INIT_WORDS.index(word)), function))
    inner = {f for _, function in found for f in facts.reached([function]) if f is not function}
    found = [(rank, function) for rank, function in found if function not in inner]
    if len(found) > 1:
        found = [(rank, function) for rank, function in found if rank[0] < _ONLY_ONE]
    if not found:
        return []
    called = _called_by_drivers(facts, step, [function for _, function in found])
    return called or _by_name(found)


_ONLY_ONE = 4


def _near_by_file(init: FunctionFacts, step: FunctionFacts) -> int:
    """How well an init of the step's file fits it: named like the file, as in AUTOSAR components, or not at all."""
    component = file_name(step.file).rpartition(".")[0]
    return 2 if stem(init.name, INIT_WORDS).lower() == component.lower() else _ONLY_ONE


def _init_within(name: str, step: str) -> str | None:
    """The word of an init whose name is the step's with that word inside: ``node_init_pack`` of ``node_pack``."""
    return next(
        (word for word in INIT_WORDS if f"_{word}_" in name and name.replace(f"_{word}_", "_", 1) == step), None
    )


def _called_by_drivers(
    facts: Facts, step: FunctionFacts, inits: Sequence[FunctionFacts]
) -> list[tuple[FunctionFacts, str]]:
    """Those of ``inits`` that stand around the call of the step, in their order there."""
    driver = next((caller for caller in facts.callers(step.name) if caller.drives), None)
    if driver is None:
        return []
    around = [f for f in facts.functions if f.file == driver.file and f.drives]
    order = [call.function for f in sorted(around, key=lambda f: f.name != "main") for call in f.calls]
    called = sorted((f for f in inits if f.name in order), key=lambda f: order.index(f.name))
    return [(f, f"called beside the step in {file_name(driver.file)}") for f in called]


def _by_name(found: Sequence[tuple[tuple[int, int], FunctionFacts]]) -> list[tuple[FunctionFacts, str]]:
    """The one whose name fits best, and after an ``X_initialize`` the ``X_Start`` and ``X_Init`` of the same name."""
    best, first = min(found, key=lambda pair: pair[0])
    if best[0] == _ONLY_ONE:
        return [(first, f"the only init in {file_name(first.file)}")]
    beside = [f for rank, f in found if rank[0] == best[0] and f is not first and first.name.endswith("nitialize")]
    more = [f for word in ("start", "init") for f in beside if ends_in(f.name, (word,))]
    return [(first, "named like the step"), *((f, f"named like the step, after {first.name}()") for f in more)]


def file_name(file: str) -> str:
    """The last part of a path."""
    return file.rpartition("/")[2]


def _nearness(name: str, own: str) -> int | None:
    """How well an init's stem fits that of a step; None: not at all."""
    if name == own:
        return 0
    if not name:
        return 1
    if own.startswith(name):
        return 2
    return 3 if name.split("_")[0] == own.split("_")[0] else None


_INSTANCE = "Rte_Instance"
"""The handle of a component's instance, a pointer that nothing is behind."""


def _fits(init: FunctionFacts, step: FunctionFacts) -> bool:
    """Whether all that ``init`` takes are pointers to what the step takes, too, or to pointers (an error status)."""
    types = {p.type for p in step.parameters}
    return all(
        p.type == _INSTANCE or (p.pointers and (p.type in types or (types and p.pointers > 1))) for p in init.parameters
    )


def pointer_pattern(facts: Facts, parameter: Declared) -> str:
    """The pattern of all variables that a parameter stands for."""
    if not parameter.pointers:
        return f"{parameter.name}[*" if parameter.array else parameter.name
    return f"{parameter.name}->*" if facts.members(parameter.type) else f"*{parameter.name}"


@dataclass(frozen=True)
class EmbeddedCoderGlobals:
    """``void X_step(void)`` over structures ``X_U``, ``X_Y``, ``X_DW``, ``X_B``."""

    letter: str = "A"
    title: str = "Embedded Coder, global structures"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        if function.parameters:
            return None
        roles: dict[str, list[str]] = {"input": [], "state": [], "output": []}
        seen = []
        for name in sorted(set().union(*(f.names for f in facts.reached([function])))):
            obj = facts.object(name, function.file)
            role = _global_role(obj) if obj is not None and facts.members(obj.what.type) else ""
            if role:
                seen.append(name)
            if role in roles:
                roles[role].append(f"{name}.*")
        if not seen:
            return None
        why = [f"it works on {', '.join(seen)}"]
        found = judged(facts, self, function, 60 + 5 * len(seen), why)
        return replace(found, roles={role: tuple(names) for role, names in roles.items() if names})


def _global_role(obj: ObjectFacts) -> str:
    """The role of a structure by the name of the object or of its type; ``signal`` and the like say nothing more."""
    patterns = {
        "input": r"(.*_|rt)U|.*ExternalInputs|.*_extU", "output": r"(.*_|rt)Y|.*ExternalOutputs",
        "state": r"(.*_|rt)(DW|DWork|X|Z|PrevZCX|PrevZCSigState|ZCE)", "signal": r"(.*_|rt)(B|P|M|M_|ConstP|ConstB)",
    }  # fmt: skip
    types = {"input": r"ExtU.*|ExternalInputs.*", "output": r"ExtY.*|ExternalOutputs.*", "state": r"DW(_.*)?|D_Work.*"}
    by_type = next((role for role, p in types.items() if re.fullmatch(p, obj.what.type)), "")
    return by_type or next((role for role, p in patterns.items() if re.fullmatch(p, obj.what.name)), "")


@dataclass(frozen=True)
class ModelReference:
    """``f(const T *rtu_a, T *rty_b, localB *, localDW *)``."""

    letter: str = "B"
    title: str = "Embedded Coder, referenced model"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        inputs = [p for p in function.parameters if re.match(r"(arg_)?rtu_?", p.name)]
        outputs = [p for p in function.parameters if re.match(r"(arg_)?rty_?", p.name)]
        local = [p for p in function.parameters if re.fullmatch(r"local(B|DW|X|ZCE|ZCSV|C|P)|rtd?w?_?local.*", p.name)]
        if not inputs and not outputs and not local:
            return None
        names = ", ".join(p.name for p in (*inputs[:2], *outputs[:2], *local[:2]))
        roles = {
            "input": tuple(pointer_pattern(facts, p) for p in inputs),
            "output": tuple(pointer_pattern(facts, p) for p in outputs),
            "state": tuple(pointer_pattern(facts, p) for p in local if p.name == "localDW"),
        }
        kinds = bool(inputs) + bool(outputs) + bool(local)
        score = 50 + 15 * kinds - (60 if ends_in(function.name, ("update", "derivatives", "disable", "enable")) else 0)
        found = judged(facts, self, function, score, [f"its parameters are called {names}"])
        return replace(found, roles={role: patterns for role, patterns in roles.items() if patterns})


@dataclass(frozen=True)
class ReusableModel:
    """``void X_step(RT_MODEL *const rtM)`` with inputs, outputs and states behind the model or beside it."""

    letter: str = "C"
    title: str = "Embedded Coder, reusable model"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        model = next((p for p in function.parameters if p.pointers and _is_model(p)), None)
        if model is None or any(p.name.startswith(("local", "rty_")) for p in function.parameters):
            return None
        roles: dict[str, list[str]] = {"input": [], "state": [], "output": [], "ignore": []}
        for member in facts.members(model.type):
            role = _member_role(member)
            if role:
                arrow = "->*" if member.pointers else ".*"
                roles[role].append(f"{model.name}->{member.name}{arrow}")
        for parameter in function.parameters:
            if parameter is not model:
                by_type = "output" if parameter.pointers and not parameter.const else "input"
                name = next((r for r, p in _PARAMETER_ROLES.items() if re.fullmatch(p, parameter.type)), by_type)
                roles[name].append(pointer_pattern(facts, parameter))
        why = [f"it takes the model '{model}'"]
        kept = {role: tuple(names) for role, names in roles.items() if names}
        return replace(judged(facts, self, function, 90, why), roles=kept)


_PARAMETER_ROLES = {"input": r"ExtU.*", "output": r"ExtY.*", "state": r"DW.*"}


def _is_model(parameter: Declared) -> bool:
    return bool(re.fullmatch(r"(.*_)?RT_MODEL.*|struct tag_RTM.*", parameter.type)) or parameter.name == "rtM"


def _member_role(member: Declared) -> str:
    name = member.name.lower()
    if name in ("inputs", "u"):
        return "input"
    if name in ("outputs", "y"):
        return "output"
    return "state" if name in ("dwork", "contstates", "prevzcsigstate") else ""


@dataclass(frozen=True)
class KcgContext:
    """``Node(inC_Node *inC, outC_Node *outC)``: outputs, memories and the contexts of other nodes in one structure."""

    letter: str = "D"
    title: str = "SCADE KCG, input structure and context"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        context = [p for p in function.parameters if p.pointers and p.type.startswith("outC_")]
        inputs = [p for p in function.parameters if p.pointers and p.type.startswith("inC_")]
        if not context:
            return None
        by_value = [p for p in function.parameters if not p.pointers]
        names = " and ".join(str(p) for p in (*inputs, *context))
        found = judged(facts, self, function, 70 + 20 * bool(inputs), [f"it takes {names}"])
        return replace(found, roles={"input": tuple(pointer_pattern(facts, p) for p in (*inputs, *by_value))})


@dataclass(frozen=True)
class TwoStructures:
    """``compute(io *, state *)``: Gene-Auto, and the like written by hand."""

    letter: str = "D"
    title: str = "two structures"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        both = function.parameters
        if len(both) != 2 or not all(p.pointers == 1 and facts.members(p.type) for p in both):
            return None
        state = next((p for p in both if re.search(r"state|mem|self|ctx|^s$|^x$", f"{p.name} {p.type}", re.I)), None)
        if both[0].type == both[1].type or state is None:
            return None
        why = [f"it takes {both[0]} and {both[1]}"]
        return judged(facts, self, function, 50, why)


@dataclass(frozen=True)
class OneStructure:
    """``tick(TickData *)``: inputs, outputs and state are members of one structure."""

    letter: str = "E"
    title: str = "one structure for everything"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        if len(function.parameters) != 1 or not function.parameters[0].pointers:
            return None
        data = function.parameters[0]
        members = [m.name for m in facts.members(data.type) if not m.pointers]
        if not members or _is_model(data) or data.const:
            return None
        inputs = _cleared(facts, function, members)
        found = judged(facts, self, function, 45, [f"its only parameter is {data}"])
        if not inputs:
            return found
        why = (*found.why, f"it clears {', '.join(inputs)} when it has read them")
        return replace(found, why=why, roles={"input": tuple(f"{data.name}->{name}" for name in inputs)})


def _cleared(facts: Facts, step: FunctionFacts, members: Sequence[str]) -> list[str]:
    """Members that the step only ever sets to 0, and last of all: the environment sets them before each step."""
    own = [w for w in step.writes if len(w.path) == 1]
    tail: list[str] = []
    for write in reversed(own):
        if not write.zero:
            break
        tail.append(write.path[0])
    written = [w for f in facts.reached([step]) for w in f.writes if w.path]
    inner = {call.function for call in step.calls}
    started = {w.path[0] for f in facts.functions if f.name not in inner and f is not step for w in f.writes if w.path}
    only_cleared = {name for name in members if all(w.zero for w in written if w.path[0] == name)}
    return [name for name in members if name in tail and name in only_cleared and name not in started]


@dataclass(frozen=True)
class Heptagon:
    """``N_step(int a, int b, N_out *_out, N_mem *self)``."""

    letter: str = "F"
    title: str = "Heptagon, scalars with an output and a memory structure"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        out = [p for p in function.parameters if p.pointers and re.search(r"_out$", p.type)]
        memory = [p for p in function.parameters if p.pointers and re.search(r"_mem$", p.type)]
        scalars = [p for p in function.parameters if not p.pointers]
        if not out or len(out) + len(memory) + len(scalars) != len(function.parameters):
            return None
        roles = {
            "input": tuple(p.name for p in scalars),
            "state": tuple(pointer_pattern(facts, p) for p in memory),
            "output": tuple(pointer_pattern(facts, p) for p in out),
        }
        score = 70 + 10 * bool(memory)
        found = judged(facts, self, function, score, [f"it takes {' and '.join(str(p) for p in (*out, *memory))}"])
        return replace(found, roles={role: patterns for role, patterns in roles.items() if patterns})


@dataclass(frozen=True)
class Autosar:
    """A runnable: inputs and outputs through calls ``Rte_Read_..``, ``Rte_IRead_..``, ``Rte_Write_..``."""

    letter: str = "G"
    title: str = "AUTOSAR, calls of the run-time environment"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        reached = facts.reached([function])
        calls = sorted({c.function for f in reached for c in f.calls if c.function.startswith("Rte_")})
        if not calls:
            return None
        kinds = Counter("_".join(name.split("_")[:2]) for name in calls)
        named = ", ".join(f"{count} functions {kind}_*" for kind, count in kinds.items())
        return judged(facts, self, function, 80 + min(len(calls), 10), [f"it calls {named}"])


@dataclass(frozen=True)
class PlainGlobals:
    """``void step(void)`` over plain global variables."""

    letter: str = "H"
    title: str = "plain global variables"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        reached = facts.reached([function])
        used = {name for f in reached for name in f.names if facts.object(name, function.file) is not None}
        if function.parameters or not used or not any(w.root in used for f in reached for w in f.writes):
            return None
        return judged(
            facts,
            self,
            function,
            30,
            [f"it takes nothing and works on {len(used)} global variable{'s' * (len(used) > 1)}"],
        )


@dataclass(frozen=True)
class ByHand:
    """Anything else: parameters of any kind."""

    letter: str = "-"
    title: str = "written by hand"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        if not function.parameters:
            return None
        return judged(facts, self, function, 20, [f"it takes {', '.join(map(str, function.parameters))}"])


STYLES: tuple[Style, ...] = (
    Autosar(), ModelReference(), ReusableModel(), EmbeddedCoderGlobals(), KcgContext(), Heptagon(), TwoStructures(),
    OneStructure(), PlainGlobals(), ByHand(),
)  # fmt: skip


def proposals(facts: Facts, step: str = "") -> list[Proposal]:
    """All readings of a program, the most likely first; each function in the first style that fits it best.

    With ``step`` those of the functions of that name alone.
    """
    found = []
    for function in [f for f in facts.functions if f.name == step] if step else step_candidates(facts):
        readings = [p for style in STYLES if (p := style.recognise(facts, function)) is not None]
        if readings:
            found.append(max(readings, key=lambda p: p.score))
    return sorted(found, key=lambda p: -p.score)
