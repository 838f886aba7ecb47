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

from chaincover.work.workers import pack, unpack

READS = """
import sys
from chaincover.work.workers import pack, unpack
system, goals, final = unpack(sys.stdin.buffer.read())
sys.stdout.buffer.write(pack((system, goals, final)))
"""


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 10**9))
def test_systems_and_goals_come_back_as_they_were(seed: int) -> None:
    case = random_case(seed)
    assert unpack(pack((case.system, case.goals, case.final))) == (case.system, case.goals, case.final)


def test_another_process_reads_the_same() -> None:
    sent = (cruise(), PROPERTIES, INIT)
    done = subprocess.run([sys.executable, "-c", READS], input=pack(sent), capture_output=True, check=True)
    assert unpack(done.stdout) == sent


def test_deep_formulas_need_no_recursion() -> None:
    deep = x = Symbol("pack_x", BVType(8))
    for number in range(20_000):
        deep = deep + x if number % 2 else deep & BV(number % 256, 8)
    assert unpack(pack({"deep": [deep, x]})) == {"deep": [deep, x]}
