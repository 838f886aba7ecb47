"""``init`` notes types that do not have the size that their names say, with the target for which they have."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, write_files

STEP = "T n; void step(T a) { n = a; }"
NOTED = {
    "a long of 32 bits": ("typedef signed long kcg_int32; typedef kcg_int32 T;", "kcg_int32", 'target = "ilp32"'),
    "an int of 16 bits": (
        "typedef unsigned int UINT16; typedef long INT32; typedef UINT16 T;",
        "UINT16",
        'target = "ip16"',
    ),
    "none fits": ("typedef char u16; typedef u16 T;", "u16", "no known target fits"),
}
SILENT = {
    "all fit": "typedef signed int kcg_int32; typedef unsigned char u8; typedef u8 T;",
    "the standard's": "#include <stdint.h>\ntypedef int32_t T;",
    "no size": "typedef long level2; typedef level2 T;",
}


@pytest.mark.parametrize("name", NOTED)
def test_a_type_of_another_size_is_noted_with_the_target_that_fits(name: str, tmp_path: Path) -> None:
    text, noted, target = NOTED[name]
    write_files(tmp_path, {"c.c": f"{text}\n{STEP}\n"})
    outcome = chaincover("init", "c.c", cwd=tmp_path)
    assert outcome.code == 0
    line = next(row for row in outcome.out.splitlines() if "not the size that the name says" in row)
    assert noted in line
    assert target in line


@pytest.mark.parametrize("name", SILENT)
def test_types_that_fit_are_not_mentioned(name: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": f"{SILENT[name]}\n{STEP}\n"})
    assert "size that the name says" not in chaincover("init", "c.c", cwd=tmp_path).out
