"""Formulas sent as bytes are the same formulas, in this process and in another one."""

from __future__ import annotations

import subprocess
import sys

from cruise import INIT, PROPERTIES, cruise
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import BV, Symbol
from pysmt.typing import BVType
from random_systems import random_case

from bmc.formulas.pack import dumps, loads

READS = """
import sys
from bmc.formulas.pack import dumps, loads
system, goals, final = loads(sys.stdin.buffer.read())
sys.stdout.buffer.write(dumps((system, goals, final)))
"""


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 10**9))
def test_systems_and_goals_come_back_as_they_were(seed: int) -> None:
    case = random_case(seed)
    assert loads(dumps((case.system, case.goals, case.final))) == (case.system, case.goals, case.final)


def test_another_process_reads_the_same() -> None:
    sent = (cruise(), PROPERTIES, INIT)
    done = subprocess.run([sys.executable, "-c", READS], input=dumps(sent), capture_output=True, check=True)
    assert loads(done.stdout) == sent


def test_deep_formulas_need_no_recursion() -> None:
    deep = x = Symbol("pack_x", BVType(8))
    for number in range(20_000):
        deep = deep + x if number % 2 else deep & BV(number % 256, 8)
    assert loads(dumps({"deep": [deep, x]})) == {"deep": [deep, x]}
