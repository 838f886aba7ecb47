"""Functions that nothing declares and no source defines, as C89 generators call them: they yield int, and take ints."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment  # noqa: F401

from bmc.errors import InputRefused
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig

PROGRAM = """int n;
void step(unsigned char a) {
  if (a > 3) { n = level(); show(n, a); } else blink();
  switch (a) { case 1: beep(1); break; default: for (int k = 0; k < 2; k++) beep(k + a); }
}
"""


def read(folder: Path, text: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> CModel:
    (folder / "c.c").write_text(text)
    fresh_environment()
    files = (str(folder / "c.c"),)
    return read_c(SourceConfig("c", files, step="step", input_functions=inputs, output_functions=outputs))


@pytest.mark.needs_compiler
def test_the_environment_has_them(tmp_path: Path) -> None:
    model = read(tmp_path, PROGRAM, ("level",), ("show", "blink", "beep"))
    assert [var.name for var in model.system.inputs] == ["a", "level"]
    assert {"show::1", "show::2", "beep"} <= {var.name for var in model.system.state}
    found = agreement(model, pairs=100)
    assert found.steps == 100
    assert not found.differences, found.differences[0]
    assert any("nothing declares level, show, blink, beep" in note for note in model.notes)


REFUSED = {
    "a pointer": ("int n; void step(int a) { show(&a); n = a; }", "of the type int \\*", "int show(int *);"),
    "a long": ("int n; void step(long a) { show(a); n = 1; }", "of the type long", "int show(long);"),
    "another number": ("int n; void step(int a) { n = show(a); show(a, n); }", "takes 1 argument", ""),
    "no role": ("int n; void step(int a) { n = other(); }", "'other' is called but not defined", "functions.input"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_int_has_to_be_declared(name: str, tmp_path: Path) -> None:
    text, message, hint = REFUSED[name]
    with pytest.raises(InputRefused, match=message) as caught:
        read(tmp_path, text, ("level",), ("show",))
    assert hint in caught.value.hint
    assert caught.value.where is not None
