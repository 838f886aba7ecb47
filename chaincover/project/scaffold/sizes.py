"""Integer types whose names promise another number of bits than they have for the target."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bmc.errors import listed
from bmc.models.c.controller.model import CModel
from bmc.models.c.source.program import Typedef
from bmc.models.c.source.types import DATA_MODELS, DataModel, IntType

_BITS = re.compile(r"[A-Za-z_]*?(?:int|uint|s|u|i|sint|bits?|word|bool|boolean|mask|enum)_?(8|16|32|64)(?:_?t)?", re.I)
_STANDARD = re.compile(r"u?int(?:_least|_fast)?\d+_t")
_RANKS = {1: "char", 2: "short", 3: "int", 4: "long", 5: "long long"}


def other_size(model: CModel) -> str:
    """Which types have another size than their names say, and the target for which they fit; '' where all fit."""
    wrong = {name: ctype for name, ctype, bits in _named_by_size(model) if ctype.bits != bits}
    if not wrong:
        return ""
    target = model.config.target
    fitting = next((name for name, other in DATA_MODELS.items() if _all_fit(model, other)), "")
    name, ctype = next(iter(wrong.items()))
    next_step = f'set [sources] target = "{fitting}", where all fit' if fitting else "no known target fits all of them"
    has = f"({name} has {ctype.bits} bits)"
    return f"{listed([*wrong])}: not the size that the name says under {target} {has}; {next_step}"


def _named_by_size(model: CModel) -> Iterator[tuple[str, IntType, int]]:
    """The types of the program whose names say a number of bits, with that number; those of <stdint.h> fit anywhere."""
    for unit in model.program.units:
        for name, binding in unit.scope.names.items():
            found = None if _STANDARD.fullmatch(name) else _BITS.fullmatch(name)
            if found and isinstance(binding, Typedef) and isinstance(binding.ctype, IntType):
                yield name, binding.ctype, int(found[1])


def _all_fit(model: CModel, target: DataModel) -> bool:
    sizes = {rank: target.basic[name].bits for rank, name in _RANKS.items()}
    return all(sizes.get(ctype.rank, ctype.bits) == bits for _, ctype, bits in _named_by_size(model))
