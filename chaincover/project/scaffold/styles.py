"""What a recogniser of interface styles sees and says, and the words that names are judged by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from chaincover.project.scaffold.facts import Declared, Facts, FunctionFacts

STEP_WORDS = ("step", "compute", "tick", "update", "run", "loop", "cycle", "main", "output", "do")
INIT_WORDS = ("initialize", "initialise", "init", "reset", "start", "setup")
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
    return [f for f in facts.functions if not (f.static or f.drives or _is_other(f))]


def _is_other(function: FunctionFacts) -> bool:
    if re.match(r"p_|p\d", function.name) or function.name in _PROPERTY_WORDS:
        return True
    if "__CPROVER_assume" in function.called:
        return True
    return ends_in(function.name, INIT_WORDS) is not None or ends_in(function.name, _END_WORDS) is not None


def ends_in(name: str, words: Iterable[str]) -> str | None:
    """The first of ``words`` that ``name`` is or ends in, as a word of its own (``X_step``, ``doStep``)."""
    for word in words:
        if re.search(rf"(^|_|\d)(?i:{word})\d?$", name) or re.search(rf"[a-z]{word.capitalize()}$", name):
            return word
    return None


def stem(name: str, words: Iterable[str]) -> str:
    """``name`` without the word that it ends in."""
    word = ends_in(name, words)
    return re.sub(rf"_?(?i:{word})\d?$", "", name) if word else name


def judged(facts: Facts, style: Style, function: FunctionFacts, base: int, why: Iterable[str]) -> Proposal:
    """A proposal whose score counts what speaks for any step: its name, its callers, an init beside it."""
    reasons, score = list(why), base
    word = ends_in(function.name, STEP_WORDS)
    if word:
        score += 30 - STEP_WORDS.index(word)
        reasons.append(f"its name {'is' if function.name.lower() == word else 'ends in'} '{word}'")
    callers = [caller for caller in facts.callers(function.name) if not _is_other(caller)]
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
        word = ends_in(function.name, INIT_WORDS)
        if word and not function.static and function is not step and _fits(function, step):
            near = _nearness(stem(function.name, INIT_WORDS), own)
            if near is not None:
                found.append(((near, INIT_WORDS.index(word)), function))
    inner = {f for _, function in found for f in facts.reached([function]) if f is not function}
    found = [(rank, function) for rank, function in found if function not in inner]
    if not found:
        return []
    called = _called_by_drivers(facts, step, [function for _, function in found])
    return called or _by_name(found)


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


def _fits(init: FunctionFacts, step: FunctionFacts) -> bool:
    """Whether all that ``init`` takes are pointers to what the step takes, too, or to pointers (an error status)."""
    types = {p.type for p in step.parameters}
    return all(p.pointers and (p.type in types or (types and p.pointers > 1)) for p in init.parameters)


def pointer_pattern(facts: Facts, parameter: Declared) -> str:
    """The pattern of all variables that a parameter stands for."""
    if not parameter.pointers:
        return f"{parameter.name}[*" if parameter.array else parameter.name
    return f"{parameter.name}->*" if facts.members(parameter.type) else f"*{parameter.name}"
