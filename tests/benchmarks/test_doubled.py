"""The command that doubles constants of the search."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.measures.doubled import Constant, Found, constants, twice, verdict

CODE = """
import sys
from benchmarks.measures.doubled import Constant, Doubling
for name in [name for name in sys.modules if name.startswith("chaincover")]:
    del sys.modules[name]
sys.meta_path.insert(0, Doubling(Constant("chaincover.stages", {line}, "{name}")))
from chaincover import stages
print(stages.FIRST_TURN, stages.LONGEST_TURN)
"""


@pytest.mark.parametrize(
    ("name", "shown"),
    [("FIRST_TURN", "0.5 16.0"), pytest.param("LONGEST_TURN", "0.25 32.0", marks=pytest.mark.evidence)],
)
def test_one_constant_is_doubled_and_no_other(name: str, shown: str) -> None:
    (line,) = (each.line for each in constants(["chaincover.stages"]) if each.name == name)
    code = CODE.format(line=line, name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == shown


def test_collections_are_doubled_number_by_number() -> None:
    assert twice((1, 0.5)) == (2, 1.0)
    assert twice({"a": 3}) == {"a": 6}
    assert Constant("bmc.explicit.layers", 34, "DENSE_SIZE") not in constants(["chaincover.graph"])


def test_what_differs_is_told() -> None:
    first = [Found(2, 5, 5, 1.0)] * 20
    assert verdict(first, first) == "nothing"
    other = [Found(2, 6, 5, 2.0), *first[1:]]
    assert verdict(first, other).endswith("2 in 5 (>= 5) -> 2 in 6 (>= 5); units of 1 rows differ, 2.00 to 2.00 times")
    assert verdict(first, "killed") == "fails: killed"
