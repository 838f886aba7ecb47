"""What the names, parameters and calls of functions tell: which may be a step, which initialise it, and which the
environment may call beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from chaincover.project.scaffold.facts import Declared, Facts, FunctionFacts

STEP_WORDS = ("step", "compute", "tick", "update", "run", "loop", "cycle", "body", "main", "output", "do")
INIT_WORDS = ("initialize", "initialise", "init", "reset", "start", "setup")
_RESTART = "RESTART_"
_END_WORDS = ("terminate", "term", "deinit", "exit", "stop")
_PROPERTY_WORDS = ("final", "assumption", "invariant")


def step_candidates(facts: Facts) -> list[FunctionFacts]:
    """Functions that may be a step: neither static nor driving others, no init, no property."""
    return [f for f in facts.functions if not (f.static or f.drives or is_other(facts, f))]


def is_other(facts: Facts, function: FunctionFacts) -> bool:
    name = function.name
    if states_property(facts, function) or name in _PROPERTY_WORDS:
        return True
    if ends_in(name, INIT_WORDS) is not None or ends_in(name, _END_WORDS) is not None or _cut_init(name):
        return True
    if setter_of(facts, function) or (name.startswith(_RESTART) and facts.function(name.removeprefix(_RESTART))):
        return True
    return any(f"_{word}_" in name and facts.function(name.replace(f"_{word}_", "_", 1)) for word in INIT_WORDS)


def setter_of(facts: Facts, function: FunctionFacts) -> str:
    """The reaction function of an Esterel module of which ``function`` sets an input signal (``M_I_signal`` beside
    ``M`` and ``M_reset``); '' for any other function."""
    module, inner, signal = function.name.partition("_I_")
    known = inner and signal and facts.function(module) and facts.function(f"{module}_reset")
    return module if known and not function.calls else ""


def miscalled(facts: Facts, step: FunctionFacts) -> str:
    """What is wrong with a call that a step may reach: another number of arguments than the function takes."""
    for caller in facts.reached([step]):
        for call in caller.calls:
            callee = facts.function(call.function, caller.file)
            if callee is None or callee.variadic or not callee.parameters:  # () may be an old declaration of anything
                continue
            if call.arguments != len(callee.parameters):
                return f"{caller.name}() calls {callee.name}() with another number of arguments than it takes"
    return ""


def states_property(facts: Facts, function: FunctionFacts) -> bool:
    """Whether a function states a property: it assumes, or is named like one and covers, or asserts around a call.

    The name alone says nothing: ``p_step`` is the step of a program whose functions all begin with ``p_``.
    """
    if "__CPROVER_assume" in function.called:
        return True
    if not re.match(r"p_|p\d", function.name) or ends_in(function.name, (*STEP_WORDS, *INIT_WORDS)):
        return False
    asserts = {"assert", "__assert", "__CPROVER_assert"} & function.called
    calls = any(facts.function(name, function.file) for name in function.called)
    return "__CPROVER_cover" in function.called or bool(asserts and calls)


@cache
def ends_in(name: str, words: tuple[str, ...]) -> str | None:
    """The first of ``words`` that ``name`` is or ends in, as a word of its own (``X_step``, ``doStep``)."""
    for word in words:
        if re.search(rf"(^|_|\d)(?i:{word})\d?_*$", name) or re.search(rf"[a-z]{word.capitalize()}$", name):
            return word
    return None


def stem(name: str, words: tuple[str, ...]) -> str:
    """``name`` without the word that it ends in."""
    word = ends_in(name, words) or (_cut_init(name) if words is INIT_WORDS else None)
    return re.sub(rf"_?(?i:{word})\d?_*$", "", name) if word else name


def _cut_init(name: str) -> str | None:
    """The beginning of an init's word that a name of 31 characters ends in: code generators cut longer names, so that
    ``SeatBeltReminder_initialize`` may end in ``_initial`` or ``_ini``."""
    last = name.rpartition("_")[2]
    cut = len(name) == 31 and len(last) > 2 and "initialize".startswith(last.lower())
    return last if cut else None


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
    """The word of an init whose name is the step's with that word inside: ``node_init_pack`` of ``node_pack``.

    TargetLink calls it ``RESTART_node``.
    """
    if name == f"{_RESTART}{step}":
        return INIT_WORDS[0]
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
    """Whether all pointers that ``init`` takes are to what the step takes, too, or to pointers (an error status).

    It may take values beside them, and nothing but values where it has the step's name.
    """
    types = {p.type for p in step.parameters}
    pointers = [p for p in init.parameters if p.pointers]
    if not pointers and values_of(init) and stem(init.name, INIT_WORDS) != stem(step.name, STEP_WORDS):
        return False
    return all(p.type in types or (types and p.pointers > 1) for p in pointers)


def values_of(function: FunctionFacts) -> list[Declared]:
    """The parameters of an init by value: only the user knows what they are to be."""
    return [p for p in function.parameters if not p.pointers and p.type != _INSTANCE]


_CONTEXT = re.compile(r"^outC_|_mem$")
"""Types of contexts that belong to generated nodes: what resets one is called by other nodes."""


def commands(facts: Facts, step: FunctionFacts, inits: Sequence[FunctionFacts]) -> list[FunctionFacts]:
    """Functions that change what the step works on, and that nothing in the program calls: the environment may.

    Where one has the name of the step's own family (``valve_open`` of ``valve_step``), or sets an input signal of it.
    """
    types = {p.type for p in step.parameters if p.pointers and facts.members(p.type) and not _CONTEXT.search(p.type)}
    reached = facts.reached([step, *inits])
    changing = [f for f in facts.functions if _takes_only(f, types) and _writes_behind(f)]
    changing = [f for f in changing if not (f.static or f in reached or f.drives or facts.callers(f.name))]
    changing = [f for f in changing if ends_in(f.name, _END_WORDS) is None]
    return changing + [f for f in facts.functions if setter_of(facts, f) == step.name and not f.static]


def _takes_only(function: FunctionFacts, types: Collection[str]) -> bool:
    """Whether a function takes pointers to ``types``, and besides them nothing but values; all with names."""
    pointers = [p for p in function.parameters if p.pointers]
    values = [p for p in function.parameters if not p.pointers]
    named = all(p.name for p in function.parameters)
    return bool(pointers) and named and all(p.type in types for p in pointers) and not any(p.array for p in values)


def _writes_behind(function: FunctionFacts) -> bool:
    """Whether a function writes a member of what a parameter points to."""
    behind = {p.name for p in function.parameters if p.pointers and not p.const}
    return any(write.root in behind and write.path for write in function.writes)
