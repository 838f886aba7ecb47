"""The compiled original: programs that do not build, crash, hang, or differ from their description."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from native_programs import Write, counter, interface, needs_compiler, numbers, static, whole, writer

from bmc.errors import InputRefused
from bmc.limits import InputLimit
from bmc.native import commands
from bmc.native.original import NoCompiler, OriginalCrashed, OriginalTimeout, compiled, find_compiler
from bmc.system.original import Argument, Call, MemoryObject

pytestmark = needs_compiler


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def test_undefined_functions_and_variables_that_are_not_used(write: Write) -> None:
    text = """
        extern int nondet_input(void); extern int table[]; int n;
        void step(void) { if (n < 2) n++; else if (n == 2) n = nondet_input(); else n = table[5]; }"""
    native = counter(write(a=text))
    assert numbers(native, 2) == [0, 1, 2]
    with compiled(native) as program:
        with pytest.raises(OriginalCrashed, match=r"called 'nondet_input' in step 2 \(of 3") as caught:
            program.run([{}] * 3)
        assert caught.value.step == 2
        assert [state["n"] for state in caught.value.states] == [0, 1, 2]
        with pytest.raises(OriginalCrashed, match=r"in step 1 .*SIGSEGV"):
            program.steps([({"n": 0}, {}), ({"n": 3}, {})])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if (n == 2) *(volatile int *)8 = 1; n++;", r"step 2 \(of 4.*SIGSEGV"),
        ("n = 6 / (2 - n) ? n + 1 : 0;", r"step 2 \(of 4.*SIGFPE"),
        ("if (n++ == 2) abort();", r"step 2 \(of 4.*SIGABRT"),
        ("if (n++ == 2) exit(0);", r"step 2 \(of 4.*exit code 0"),
    ],
)
def test_crash(write: Write, body: str, message: str) -> None:
    with compiled(counter(write(a=f"#include <stdlib.h>\nint n; void step(void) {{ {body} }}"))) as program:
        with pytest.raises(OriginalCrashed, match=message) as caught:
            program.run([{}] * 4)
        assert caught.value.states == ({"n": 0}, {"n": 1}, {"n": 2})


def test_crash_in_init(write: Write) -> None:
    sources = write(a="int n; void init(void) { *(volatile int *)8 = 1; } void step(void) {}")
    n = static("n", sources[0])
    with compiled(interface(sources, [n], [whole(n)], Call("step"), (Call("init"),))) as program:
        with pytest.raises(OriginalCrashed, match="in init: SIGSEGV") as caught:
            program.run([{}])
        assert caught.value.step is None
        assert caught.value.states == ()


def test_endless_loop(write: Write) -> None:
    text = '#include <stdio.h>\nint n; void step(void) { while (n) fprintf(stderr, "again and again\\n"); n = 1; }'
    with compiled(counter(write(a=text))) as program:
        with pytest.raises(OriginalTimeout, match=r"step 1 .*1 s is over") as caught:
            program.run([{}] * 3, time_limit=1)
        assert caught.value.step == 1
        assert caught.value.exit_code == 5


def test_compile_error_keeps_its_place(write: Write) -> None:
    sources = write(a="int n;\nvoid step(void) { n = ; }\n")
    with (
        pytest.raises(InputRefused, match="the C compiler refuses the original: ") as caught,
        compiled(counter(sources)),
    ):
        pass
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line, caught.value.where.column) == (sources[0], 2, 23)
    assert caught.value.hint


def test_link_error_names_both_files(write: Write) -> None:
    sources = write(a="int n; void step(void) {}", b="void step(void) {}")
    with pytest.raises(InputRefused, match="'step' is defined in") as caught, compiled(counter(sources)):
        pass
    assert all(Path(source).name in caught.value.message for source in sources)


def test_missing_and_ambiguous_functions(write: Write) -> None:
    with pytest.raises(InputRefused, match="'stepp' is in none"), compiled(counter(write(a="int n;"), "stepp")):
        pass
    text = "static void step(void) {} void (*use_NAME)(void) = step;"
    sources = write(a="int n;" + text.replace("NAME", "a"), b=text.replace("NAME", "b"))
    with pytest.raises(InputRefused, match="several source files"), compiled(counter(sources)):
        pass


def test_sizes_that_differ_are_refused(write: Write) -> None:
    sources = write(a="long n; struct s { long a, b; }; void step(struct s *p, long v) { n = v; }")
    n, p, v = static("n", sources[0], 4), MemoryObject("p", "pointee", 8), MemoryObject("v", "argument", 4)
    good = MemoryObject("p", "pointee", 16)
    call = Call("step", (Argument("address", "p"), Argument("value", "v", 0, 4, True)))
    for objects, message in (
        ([n, p, v], "has 8 bytes in the compiled original, 4 in"),
        ([p, v], "argument 1 of 'step' points to has 16 bytes"),
        ([good, v], "argument 2 of 'step' has 8 bytes"),
    ):
        native = interface(sources, objects, [], call)
        with pytest.raises(InputRefused, match=message), compiled(native):
            pass


def test_what_cannot_be_located_is_named(write: Write) -> None:
    sources = write(a="int n; void step(void) { n++; }")
    n, lost = static("n", sources[0]), static("lost", sources[0])
    with compiled(interface(sources, [n, lost], [whole(n), whole(lost)], Call("step"))) as program:
        assert program.unreadable == ("lost",)
        assert program.run([{}], {"lost": 3, "n": 1}) == [{"n": 1}, {"n": 2}]
        with pytest.raises(ValueError, match="raw patterns"):
            program.run([], {"n": -1})


def test_no_compiler(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    native = counter(write(a="int n; void step(void) {}"))
    monkeypatch.setenv("CHAINCOVER_NO_NATIVE", "1")
    assert find_compiler() is None
    with pytest.raises(NoCompiler, match="with --no-native nothing is compiled"), compiled(native):
        pass
    monkeypatch.setenv("CHAINCOVER_NO_NATIVE", "0")
    for command in ("no-such-compiler-here -m32", "'gcc", "''", "/"):
        monkeypatch.setenv("CC", command)
        assert find_compiler() is None
        with pytest.raises(NoCompiler, match="no C compiler was found"), compiled(native):
            pass


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("no program", "not found"),
        ("#!/bin/sh\necho internal error >&2\nexit 1\n", "internal error"),
        ("#!/bin/sh\n", "no message"),
        ('#!/bin/sh\nfor last; do :; done\necho nothing > "$last"\n', "no message"),
    ],
    ids=["no program", "broken", "writes nothing", "writes no program"],
)
def test_a_compiler_that_compiles_nothing_is_none(
    script: str, says: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Callers take the model, as where there is no compiler; the program is not to blame."""
    command = tmp_path / "cc"
    command.write_text(script)
    command.chmod(0o755)
    monkeypatch.setenv("CC", str(command))
    native = counter(write(a="int n; void step(void) {}"))
    with pytest.raises(NoCompiler, match=f"compiles nothing in .*; it says: .*{says}"), compiled(native):
        pass


def test_what_a_compiler_warns_of_does_not_matter(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "cc"
    command.write_text(f'#!/bin/sh\necho "a.c:1:1: warning: anything" >&2\nexec {find_compiler()} "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("CC", str(command))
    with compiled(counter(write(a="int n; void step(void) { n++; }"))) as program:
        assert program.run([{}], {"n": 3}) == [{"n": 3}, {"n": 4}]


def test_without_room_for_what_is_made_there_is_no_compiler(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on the size of files that processes of the compiler write stands for a full disk."""
    monkeypatch.setattr(commands, "LIMITED", ["/bin/sh", "-c", 'ulimit -f 0; shift 4; exec "$@"', "sh"])
    with pytest.raises(NoCompiler, match="compiles nothing in"), compiled(counter(write(a="int n;"))):
        pass


def test_a_compiler_that_would_fill_memory_is_stopped(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "MEMORY", 150 << 20)
    levels = "".join(f"#define A{k + 1} A{k}+A{k}+A{k}+A{k}\n" for k in range(14))
    native = counter(write(a=f"#define A0 1+1\n{levels}int n; void step(void) {{ n = A14; }}"))
    with pytest.raises(InputRefused, match="was stopped, because it took more than 2 GB of memory") as caught:
        compiled(native).__enter__()
    assert caught.value.where is not None
    assert caught.value.where.file == native.compilation.sources[0]
    assert "macros that contain each other" in caught.value.hint


def test_a_compiler_that_would_fill_a_disk_is_stopped(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "FILE_SIZE", InputLimit("bytes", 100_000, ""))
    native = counter(write(a="int n; void step(void) {" + "n = n + 1;\n" * 20_000 + "}"))
    with pytest.raises(InputRefused, match="more than 64 MB of text, macros expanded"), compiled(native):
        pass


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "script"), [("SECONDS", "while :; do :; done"), ("WAIT", "read line < FIFO")])
def test_a_compiler_that_does_not_end_is_stopped(
    limit: str, script: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, fifo = tmp_path / "cc", tmp_path / "fifo"
    os.mkfifo(fifo)
    command.write_text(f"#!/bin/sh\n[ $1 = --version ] || ({script.replace('FIFO', str(fifo))})\n")
    command.chmod(0o755)
    monkeypatch.setenv("CC", str(command))
    monkeypatch.setattr(commands, limit, 1)
    with pytest.raises(InputRefused, match="more than 30 s"), compiled(counter(write(a="int n;"))):
        pass


def test_a_compiler_that_does_not_link_is_refused(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``CC="gcc -c"`` compiles, and passes over what it is to link without a complaint."""
    monkeypatch.setenv("CC", f"{find_compiler()} -c")
    with pytest.raises(InputRefused, match="cannot be linked") as caught, compiled(counter(write(a="int n;"))):
        pass
    assert "a compiler for this machine" in caught.value.hint


@pytest.mark.slow
def test_a_compiler_that_does_not_even_tell_its_version_is_asked_nothing_else(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "cc"
    command.write_text(f"#!/bin/sh\necho $1 >> {tmp_path}/asked\nwhile :; do :; done\n")
    command.chmod(0o755)
    monkeypatch.setenv("CC", str(command))
    monkeypatch.setattr(commands, "SECONDS", 1)
    with pytest.raises(InputRefused, match="was stopped at --version"), compiled(counter(write(a="int n;"))):
        pass
    assert (tmp_path / "asked").read_text() == "--version\n"


def test_debug_information_that_cannot_be_read_is_refused(write: Write) -> None:
    forged = 'asm(".section .debug_info,\\"\\",@progbits\\n.long 0xfffffff0\\n.byte 1,2,3\\n.text");'
    native = counter(write(a=f"int n; {forged} void step(void) {{}}"))
    with pytest.raises(InputRefused, match="debug information of the compiled original cannot be read"):
        compiled(native).__enter__()
