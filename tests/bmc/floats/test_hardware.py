"""Every operation on float and double against gcc's compiled code, on operands that arithmetic finds hard."""

from __future__ import annotations

import pytest

from benchmarks.checks.floats.hardware import Hardware, compared, folded
from benchmarks.checks.floats.operations import Operation, operations
from bmc.native.original import find_compiler

OPERATIONS = list(operations())
NAMES = [f"{operation.name}-{operation.operands[0].name}-{operation.result.name}" for operation in OPERATIONS]

pytestmark = pytest.mark.needs_compiler


@pytest.fixture(scope="module")
def hardware(tmp_path_factory: pytest.TempPathFactory) -> Hardware:
    compiler = find_compiler()
    assert compiler is not None
    return Hardware(OPERATIONS, compiler, tmp_path_factory.mktemp("hardware"))


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_as_compiled(operation: Operation, hardware: Hardware) -> None:
    result = compared(operation, hardware, 1_000, seed=4)
    assert not result.different
    assert result.compared > 100


@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_constants_as_compiled(operation: Operation, hardware: Hardware) -> None:
    assert not folded(operation, hardware, 200, seed=5).different
