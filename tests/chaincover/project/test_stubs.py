"""``init --stubs``: what a program lacks is guessed from its uses, and counts only once the user has confirmed it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import chaincover

PROGRAM = """\
#include "hal/board.h"
#include "types.h"
static tMotor motor;
static mode_e mode;
UINT8 count;
void init(void) { motor.speed = 0; mode = MODE_OFF; hal_reset(); }
void step(void) {
  unsigned char raw;
  if (hal_read(CHANNEL_A, &raw) == OK && raw > limit) { motor.speed++; mode = MODE_ON; }
  else if (button_pressed()) { motor.dir = !motor.dir; mode = MODE_OFF; }
  count++;
  hal_write(motor.speed);
}
"""
UNINCLUDED = "int n;\nvoid step(u16 a) { if (a > LEVEL) n = sensor(); show(n); }\n"


def initialised(folder: Path, text: str) -> dict[str, str]:
    """The stubs for a program, by their paths."""
    (folder / "c.c").write_text(text)
    outcome = chaincover("init", "c.c", "--stubs", "stubs", cwd=folder)
    assert outcome.code == 0, outcome.err
    stubs = sorted(path for path in (folder / "stubs").rglob("*") if path.is_file())
    return {str(path.relative_to(folder / "stubs")): path.read_text() for path in stubs}


def confirm(folder: Path) -> None:
    for path in (folder / "stubs").rglob("*.*"):
        path.write_text(path.read_text().replace("stub, unconfirmed", "stub, confirmed"))


def test_all_that_is_missing_is_guessed_with_its_reason(tmp_path: Path) -> None:
    files = initialised(tmp_path, PROGRAM)
    assert sorted(files) == ["chaincover_stubs.c", "chaincover_stubs.h", "hal/board.h", "types.h"]
    assert '#include "../chaincover_stubs.h"' in files["hal/board.h"]
    common = files["chaincover_stubs.h"]
    for part in (
        "int speed;  /* guess: used in c.c:6;",
        "} tMotor;",
        "typedef unsigned char UINT8;  /* guess: by its name;",
        "int hal_read(int, unsigned char *);  /* guess: its result is used; parameters as at c.c:9",
        "#define MODE_OFF 1  /* guess: a constant",
        "#define OK ",
        "extern int limit;  /* guess: an integer that the environment sets",
    ):
        assert part in common, part
    assert "*p2 = hal_read_value_2();" in files["chaincover_stubs.c"]


@pytest.mark.needs_compiler
def test_stubs_count_once_they_are_confirmed(tmp_path: Path) -> None:
    initialised(tmp_path, PROGRAM)
    looked_at = chaincover("check", ".", "--effort", "0.002", cwd=tmp_path)
    assert looked_at.code == 0
    assert "not confirmed, so that nothing is generated: the stub stubs/types.h" in looked_at.out
    refused = chaincover("generate", ".", "--cover", "branches()", cwd=tmp_path)
    assert refused.code == 3
    assert "stubs that are not confirmed" in refused.err
    assert not (tmp_path / "chain-out").exists()
    confirm(tmp_path)
    goal = ("--property", "on: cover(mode == MODE_ON)")
    assert chaincover("generate", ".", *goal, "--effort", "0.002", "-o", "out", cwd=tmp_path).code == 0
    result = json.loads((tmp_path / "out" / "chain.json").read_text())
    assert "the stub stubs/hal/board.h, which was confirmed" in json.dumps(result)
    assert (
        "rests on the stub stubs/types.h, which was confirmed"
        in chaincover("check", ".", "--effort", "0.002", cwd=tmp_path).out
    )


@pytest.mark.needs_compiler
def test_stubs_are_included_first_where_no_header_is_missing(tmp_path: Path) -> None:
    files = initialised(tmp_path, UNINCLUDED)
    assert list(files) == ["chaincover_stubs.h"]
    assert "typedef unsigned short u16;" in files["chaincover_stubs.h"]
    assert 'options = ["-include", "stubs/chaincover_stubs.h"]' in (tmp_path / "chaincover.toml").read_text()
    confirm(tmp_path)
    outcome = chaincover("generate", ".", "--cover", "branches()", "-o", "out", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert "2 of 2" in outcome.out


def test_stubs_that_are_there_stay_as_they_are(tmp_path: Path) -> None:
    initialised(tmp_path, UNINCLUDED)
    own = tmp_path / "stubs" / "chaincover_stubs.h"
    own.write_text(own.read_text().replace("unsigned short", "unsigned char"))
    text = own.read_text()
    (tmp_path / "c.c").write_text(UNINCLUDED.replace("show(n);", "show(n); n += OTHER;"))
    outcome = chaincover("init", "c.c", "--stubs", "stubs", "--force", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert own.read_text() == text
    assert "#define OTHER" in (tmp_path / "stubs" / "chaincover_stubs_2.h").read_text()


def test_a_program_that_lacks_nothing_gets_no_stubs(tmp_path: Path) -> None:
    assert initialised(tmp_path, "int n; void step(int a) { n = a; }") == {}


def test_stubs_into_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(UNINCLUDED)
    (tmp_path / "stubs").write_text("mine")
    outcome = chaincover("init", "c.c", "--stubs", "stubs", cwd=tmp_path)
    assert outcome.code == 3
    assert "stubs is no folder" in outcome.err
    assert (tmp_path / "stubs").read_text() == "mine"
    assert not (tmp_path / "chaincover.toml").exists()


REGISTERS = """\
#include <avr/io.h>
unsigned char s;
void init(void) { s = 0; }
void step(void) { unsigned char a = ~PIND; if (PINA & 1 && a) s = !s; PORTB = s; OCR1A += 2; LATbits.RB1 = s > LIMIT; }
void elsewhere(void) { TCCR1B = 11; }
"""


@pytest.mark.needs_compiler
def test_registers_are_objects(tmp_path: Path) -> None:
    files = initialised(tmp_path, REGISTERS)
    common = files["chaincover_stubs.h"]
    for part in (
        "extern volatile unsigned int PINA;  /* guess: an input, for only its bits are looked at; used at c.c:4 */",
        "extern volatile unsigned int PIND;  /* guess: an input",
        "extern volatile unsigned int PORTB;  /* guess: an object, for it is assigned; used at c.c:4 */",
        "extern volatile unsigned int TCCR1B;",  # which a compiler of the whole file needs
        "struct LATbits_bits { unsigned int RB1; };",
        "#define LIMIT ",
    ):
        assert part in common, part
    assert "volatile unsigned int OCR1A;" in files["chaincover_stubs.c"]
    assert "PIN" not in files["chaincover_stubs.c"]
    checked = chaincover("check", ".", cwd=tmp_path)
    assert checked.code == 0, checked.err
    assert "equal on" in checked.out
    text = (tmp_path / "chaincover.toml").read_text()
    assert 'input = ["PIND", "PINA"]' in text
    assert "# OCR1A: the volatile object 'OCR1A' is read before the step writes it" in text


def test_functions_of_any_number_of_arguments_are_not_guessed_and_keep_nothing_from_being_written(
    tmp_path: Path,
) -> None:
    trace = "int trace(char *, const char *, ...);\n"
    text = f'#include <gone.h>\n{trace}int n;\nvoid step(u8 a) {{ char t[9]; trace(t, "%d", a); n = a; }}\n'
    files = initialised(tmp_path, text)
    assert "typedef unsigned char u8;" in files["chaincover_stubs.h"]
    assert not any("trace" in text for text in files.values())
    project = (tmp_path / "chaincover.toml").read_text()
    assert 'input = ["trace"]' not in project


def test_a_fault_in_a_stub_is_told_as_one_of_ours(tmp_path: Path) -> None:
    initialised(tmp_path, UNINCLUDED)
    own = tmp_path / "stubs" / "chaincover_stubs.h"
    own.write_text(own.read_text().replace("unsigned short", "unsigned shrt"))
    refused = chaincover("check", ".", cwd=tmp_path)
    assert refused.code == 3
    assert "stubs/chaincover_stubs.h:5" in refused.err
    assert "this file is a stub that 'chaincover init --stubs' guessed: correct it there" in refused.err


def test_an_assigned_constant_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("#define PORTB 1\nvoid compute(int a) { PORTB = a; }\n")
    refused = chaincover("check", "c.c", cwd=tmp_path)
    assert (
        "c.c:2:23: a constant stands where an object is expected\n  next: a macro may stand for a constant"
        in refused.err
    )


@pytest.mark.needs_compiler
def test_registers_behind_a_pointer_are_members_of_an_object(tmp_path: Path) -> None:
    text = "#include <chip.h>\nvoid step(int a) { if (GPIOC->IDR & 4) GPIOA->ODR = a; }\n"
    common = initialised(tmp_path, text)["chaincover_stubs.h"]
    assert "#define GPIOA (&GPIOA_object)" in common
    assert "extern volatile struct GPIOC_bits GPIOC_object;" in common
    checked = chaincover("check", ".", cwd=tmp_path)
    assert checked.code == 0, checked.err
    assert "input   GPIOC_object.IDR" in checked.out
    assert "equal on" in checked.out


def test_a_function_has_the_types_of_what_it_is_called_with_and_of_what_takes_its_result(tmp_path: Path) -> None:
    code = (
        '#include "scaling.h"\ntypedef signed short i16;\ntypedef long i32;\ntypedef i32 wide;\nextern wide level;\n'
        "i16 n;\nvoid step(void) { n = saturated(level, 7); }\n"
    )
    files = initialised(tmp_path, code)
    assert "signed short saturated(long, int);" in files["chaincover_stubs.h"]
    confirm(tmp_path)
    assert chaincover("check", "chaincover.toml", cwd=tmp_path).code == 0


def test_what_takes_a_text_and_yields_nothing_is_declared_like_printf(tmp_path: Path) -> None:
    code = 'int n;\nvoid step(int a) { LOG_DBG("a is %d", a); LOG_DBG("no value"); n = a; }\n'
    assert "void LOG_DBG(const char *, ...);" in initialised(tmp_path, code)["chaincover_stubs.h"]
    confirm(tmp_path)
    assert chaincover("check", "chaincover.toml", cwd=tmp_path).code == 0


def test_a_function_that_shows_a_text_has_a_body_without_effect(tmp_path: Path) -> None:
    files = initialised(tmp_path, 'int n;\nvoid step(int a) { show(1, "on"); n = a; }\n')
    assert "void show(int p1, const char * p2) {}" in files["chaincover_stubs.c"]
    confirm(tmp_path)
    assert chaincover("check", "chaincover.toml", cwd=tmp_path).code == 0
