"""The interface styles of C code generators, one recogniser each (see docs/reference/init.md).

Before them: what a recogniser sees and says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol

from bmc.records import dataclass
from chaincover.project.scaffold.entry_points import (
    STEP_WORDS,
    ends_in,
    file_name,
    init_functions,
    is_other,
    miscalled,
    step_candidates,
)
from chaincover.project.scaffold.facts import Declared, Facts, FunctionFacts, ObjectFacts

MOST_FOR_CALLS = 30
"""What the functions that a step calls may add to its score."""


@dataclass(frozen=True)
class Proposal:
    """One reading of a program: its step function, and why; roles by patterns of variable names.

    ``score`` orders proposals, the greatest first. ``roles`` maps input, state, output and ignore to patterns;
    ``connected`` the pointers of a model that an init sets to the objects behind them ('' where another value is set).
    """

    letter: str
    title: str
    step: FunctionFacts
    why: tuple[str, ...]
    score: int
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    connected: Mapping[str, str] = field(default_factory=dict)


class Style(Protocol):
    """Recognises one way in which generated code declares its interface."""

    @property
    def letter(self) -> str: ...

    @property
    def title(self) -> str: ...

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        """The proposal with ``function`` as step, None if it does not look like one of this style."""
        ...


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
    callers = [caller for caller in facts.callers(function.name) if not is_other(facts, caller)]
    drivers = [caller for caller in callers if caller.drives]
    if drivers:
        loop = any(call.function == function.name and call.repeated for call in drivers[0].calls)
        score += 35 if loop else 20
        reasons.append(f"{drivers[0].name}() in {file_name(drivers[0].file)} calls it{' in its loop' if loop else ''}")
    if len(callers) > len(drivers):
        score -= 40
    elif not drivers:
        reasons.append("no other function calls it")
    odd = miscalled(facts, function)
    if odd:
        score -= 60
        reasons.append(f"but {odd}")
    found = [init for init, _ in init_functions(facts, function)]
    if found:
        score += 15
        reasons.append(f"{found[0].name}() belongs to it")
    return Proposal(style.letter, style.title, function, tuple(reasons), score)


def pointer_pattern(facts: Facts, parameter: Declared) -> str:
    """The pattern of all variables that a parameter stands for."""
    if not parameter.pointers:
        return f"{parameter.name}[*]" if parameter.array else parameter.name
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
        connected = _connected(facts, function, model)
        for member in facts.members(model.type):
            role = _member_role(member)
            if role and connected.get(member.name):
                roles[role].append(f"{connected[member.name]}.*")
            elif role:
                arrow = "->*" if member.pointers else ".*"
                roles[role].append(f"{model.name}->{member.name}{arrow}")
        for parameter in function.parameters:
            if parameter is not model:
                by_type = "output" if parameter.pointers and not parameter.const else "input"
                name = next((r for r, p in _PARAMETER_ROLES.items() if re.fullmatch(p, parameter.type)), by_type)
                roles[name].append(pointer_pattern(facts, parameter))
        why = [f"it takes the model '{model}'"]
        kept = {role: tuple(names) for role, names in roles.items() if names}
        return replace(judged(facts, self, function, 90, why), roles=kept, connected=connected)


def _connected(facts: Facts, step: FunctionFacts, model: Declared) -> dict[str, str]:
    """The pointers of a model that its inits set, with the objects whose addresses they get."""
    found = {}
    for function in facts.reached([init for init, _ in init_functions(facts, step)]):
        names = {p.name for p in function.parameters if p.pointers and p.type == model.type}
        found.update(
            {w.path[0]: w.address for w in function.writes if w.root in names and len(w.path) == 1 and not w.zero}
        )
    return found


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
class Matiec:
    """``void config_run__(unsigned long tick)`` beside ``config_init__``: all tasks of a PLC program, by matiec."""

    letter: str = "-"
    title: str = "matiec, the configuration of a PLC program"

    def recognise(self, facts: Facts, function: FunctionFacts) -> Proposal | None:
        if function.name != "config_run__" or facts.function("config_init__") is None:
            return None
        return judged(facts, self, function, 90, ["it runs all tasks of the PLC program"])


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
    OneStructure(), PlainGlobals(), Matiec(), ByHand(),
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
