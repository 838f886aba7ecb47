"""The compiled original: real small C programs, built and run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from native_programs import Write, counter, interface, needs_compiler, numbers, static, whole, writer

from bmc.errors import InputRefused
from bmc.native.build import Builder
from bmc.native.original import OriginalCrashed, compiled
from bmc.system.original import Argument, Call, Cell, MemoryObject

pytestmark = needs_compiler


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def test_a_function_called_step_and_main_in_two_files(write: Write) -> None:
    sources = write(
        a="int n; int step(void) { n = n + 2; return n; } int main(void) { return 1; }",
        b="int main(void) { return 2; }",
    )
    with compiled(counter(sources)) as program:
        assert program.name
        assert program.unreadable == ()
        assert program.run([{}, {}]) == [{"n": 0}, {"n": 2}, {"n": 4}]


def test_pointers_to_structs_with_init_and_inputs(write: Write) -> None:
    sources = write(
        a="""
        typedef struct { _Bool on; short by; } in_t;
        typedef struct { signed char low; int sum; short last[2]; } state_t;
        void init(state_t *s) { s->low = -1; s->sum = 5; }
        void compute(const in_t *i, state_t *s) {
          if (i->on) { s->last[1] = s->last[0]; s->last[0] = i->by; s->sum += i->by; }
        }"""
    )
    objects = [MemoryObject("i", "pointee", 4), MemoryObject("s", "pointee", 12)]
    cells = [
        Cell("i.on", "i", 0, 1),
        Cell("i.by", "i", 2, 2),
        Cell("s.low", "s", 0, 1),
        Cell("s.sum", "s", 4, 4),
        Cell("s.last[0]", "s", 8, 2),
        Cell("s.last[1]", "s", 10, 2),
    ]
    to_i, to_s = Argument("address", "i"), Argument("address", "s")
    native = interface(sources, objects, cells, Call("compute", (to_i, to_s)), (Call("init", (to_s,)),))
    with compiled(native) as program:
        states = program.run([{"i.on": 1, "i.by": 0xFFFE}, {"i.on": 0, "i.by": 7}, {"i.by": 9, "i.on": 1}])
        assert states[0] == {"s.low": 255, "s.sum": 5, "s.last[0]": 0, "s.last[1]": 0}
        assert states[1] == states[2] == {"s.low": 255, "s.sum": 3, "s.last[0]": 0xFFFE, "s.last[1]": 0}
        assert states[3] == {"s.low": 255, "s.sum": 12, "s.last[0]": 9, "s.last[1]": 0xFFFE}
        given = program.run([], {"s.sum": 0xFFFFFFFF, "a variable of the tool": 1})
        assert given == [{**states[0], "s.sum": 0xFFFFFFFF, "i.on": 0, "i.by": 0}]
        with pytest.raises(InputRefused, match="the input 'x' has no place"):
            program.run([{"x": 1}])


def test_same_names_in_two_files_and_two_functions(write: Write) -> None:
    sources = write(
        a="""
        static int n = 1; void other(void);
        static void f(void) { static int k; k += 3; }
        static void g(void) { static int k = 10; { static int k = 70; k++; } k -= 1; }
        void run(void) { n *= 2; f(); g(); other(); }""",
        b="static int n = 100; void other(void) { n++; }",
    )
    a, b = sources
    objects = [static("n", a), static("n", b), static("k", a, function="f"), static("k", a, function="g")]
    inner = MemoryObject("inner", "local", 4, "k", "g", a)
    cells = [whole(obj, obj.name) for obj in [*objects, inner]]
    with compiled(interface(sources, [*objects, inner], cells, Call("run"))) as program:
        assert program.unreadable == ()
        first, _, last = program.run([{}, {}])
    assert first == {"a_n": 1, "b_n": 100, "fa_k": 0, "ga_k": 10, "inner": 70}
    assert last == {"a_n": 4, "b_n": 102, "fa_k": 6, "ga_k": 8, "inner": 72}


def test_scalars_by_value_and_result(write: Write) -> None:
    sources = write(
        a="""
        long long seen; double real;
        signed char step(signed char a, unsigned short b, _Bool c, double d, float e, int k, const char *none) {
          seen = a + b + c + k; real = d + e; return none ? 0 : (signed char)(a - 1);
        }"""
    )
    sizes = {"a": (1, True), "b": (2, False), "c": (1, False), "d": (8, True), "e": (4, True)}
    objects = [MemoryObject(name, "argument", size) for name, (size, _) in sizes.items()]
    arguments = [Argument("value", name, 0, size, signed) for name, (size, signed) in sizes.items()]
    arguments += [Argument("constant", size=4, signed=True, number=-1000), Argument("constant", size=8)]
    kept = [static("seen", sources[0], 8), static("real", sources[0], 8), MemoryObject("ret", "return", 1)]
    cells = [whole(obj) for obj in [*objects, *kept]]
    native = interface(sources, [*objects, *kept], cells, Call("step", tuple(arguments), "ret"))
    inputs = {"a": 0xFE, "b": 0xFFFF, "c": 1, "d": 0x3FF8000000000000, "e": 0x40000000}  # -2, 65535, 1, 1.5, 2.0
    with compiled(native) as program:
        state = program.run([inputs])[1]
    assert state == {"seen": 65535 - 2 + 1 - 1000, "real": 0x400C000000000000, "ret": 0xFD}  # 3.5, -3


def test_steps_start_from_the_image_after_init(write: Write) -> None:
    sources = write(
        a="""
        static int n, hidden[3]; int in;
        void init(void) { n = 1; hidden[1] = 40; }
        void step(void) { n += in + hidden[1]; hidden[1]++; }"""
    )
    n, hidden, given = static("n", sources[0]), static("hidden", sources[0], 12), static("in", sources[0])
    cells = [whole(n), whole(given), Cell("hidden[1]", hidden.name, 4, 4)]
    native = interface(sources, [n, given, hidden], cells, Call("step"), (Call("init"),))
    with compiled(native) as program:
        after = program.steps([({"n": 5}, {"in": 1}), ({}, {"in": 2}), ({"n": 0, "hidden[1]": 1}, {"in": 3})])
    assert [(state["n"], state["hidden[1]"]) for state in after] == [(46, 41), (43, 41), (4, 2)]
    assert all("in" not in state for state in after)


def test_memory_outside_the_interface_is_restored_too(write: Write) -> None:
    sources = write(a="int n; static int unlisted; void step(void) { unlisted++; n = unlisted; }")
    with compiled(counter(sources)) as program:
        assert program.steps([({"n": 9}, {})] * 3) == [{"n": 1}] * 3
        assert program.steps([]) == []


def test_each_of_several_runs_is_as_by_itself(write: Write) -> None:
    sources = write(
        a="int n, in; static int unlisted; void init(void) { n = 7; } "
        "void step(void) { n += in * ++unlisted; if (n > 99) *(volatile int *)0 = 0; }"
    )
    n, given = static("n", sources[0]), static("in", sources[0])
    native = interface(sources, [n, given], [whole(n), whole(given)], Call("step"), (Call("init"),))
    runs: list[list[dict[str, int]]] = [[{"in": 1}, {"in": 2}, {}], [], [{"in": 3}], [{"in": 4}, {"in": 5}]]
    for initial in (None, {"n": 30}):
        with compiled(native) as program:
            alone = [state for inputs in runs for state in program.run(inputs, initial)[1:]]
            assert program.runs(runs, initial) == alone
            assert program.runs([], initial) == []
            with pytest.raises(OriginalCrashed) as crashed:
                program.runs([*runs, [{"in": 99}]], initial)
            assert (crashed.value.step, list(crashed.value.states)) == (6, alone)


def test_static_step_function_and_arrays_of_odd_places(write: Write) -> None:
    sources = write(a="unsigned char t[5] = {1, 2, 3, 4, 5}; static void step(void) { t[4]++; t[0]--; }")
    t = static("t", sources[0], 5)
    cells = [Cell("t[4]", t.name, 4, 1), Cell("middle", t.name, 1, 3), Cell("t[0]", t.name, 0, 1)]
    with compiled(interface(sources, [t], cells, Call("step"))) as program:
        states = program.run([{}], {"middle": 0x030303})
    assert states == [{"t[0]": 1, "middle": 0x030303, "t[4]": 5}, {"t[0]": 0, "middle": 0x030303, "t[4]": 6}]


def test_include_dirs_and_defines(write: Write, tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "types.h").write_text("typedef int number;\nstatic number from_header = START;\n")
    sources = write(a='#include "types.h"\nnumber n; void step(void) { n = from_header += BY; }')
    n, header = static("n", sources[0]), static("from_header", str(tmp_path / "inc" / "types.h"))
    native = interface(
        sources, [n, header], [whole(n), whole(header)], Call("step"), (), (str(tmp_path / "inc"),),
        (("START", "7"), ("BY", "-2")),
    )  # fmt: skip
    with compiled(native) as program:
        assert program.run([{}]) == [{"n": 0, "from_header": 7}, {"n": 5, "from_header": 5}]


def test_static_locals_of_inlined_and_included_functions(write: Write) -> None:
    sources = write(
        a="""
        static inline __attribute__((always_inline)) int f(void) { static int k = 4; return ++k; }
        #include "part.c"
        int n; void step(void) { n = f() + f() + part(); }""",
        part="static int part(void) { static int k = 90; return k++; }",
    )
    n, k, part = static("n", sources[0]), static("k", sources[0], 4, "f"), static("k", sources[1], 4, "part")
    cells = [whole(n), whole(k, "f k"), whole(part, "part k")]
    with compiled(interface(sources[:1], [n, k, part], cells, Call("step"))) as program:
        assert program.run([{}])[1] == {"n": 5 + 6 + 90, "f k": 6, "part k": 91}


@pytest.mark.parametrize("declared", ["#include <assert.h>", "void assert(int);", ""])
def test_violated_assert_and_assume_do_not_end_the_run(declared: str, write: Write) -> None:
    text = f"""
        {declared}
        int n;
        void step(void) {{ __CPROVER_assume(n > 100); assert(n++ < 0); assert(n < 0); }}"""
    assert numbers(counter(write(a=text)), 2) == [0, 1, 2]


def test_what_cbmc_defines_takes_one_more_link(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    links: list[list[str]] = []
    link = Builder._link

    def counted(self: Builder, objects: Sequence[Path], options: Sequence[str]) -> CompletedProcess[bytes]:
        links.append([path.name for path in objects])
        return link(self, objects, options)

    monkeypatch.setattr(Builder, "_link", counted)
    text = "int n; void step(void) { __CPROVER_assume(n > 100); n++; }"
    assert numbers(counter(write(a=text)), 1) == [0, 1]
    assert links == [["file0.o"], ["file0.o", "stubs.o"]]


def test_printing_and_reading_do_not_disturb(write: Write) -> None:
    text = """
        #include <stdio.h>
        int n;
        void step(void) { n -= getchar(); printf("RRRR %d\\n", n); fflush(stdout); fprintf(stderr, "e\\n"); }"""
    assert numbers(counter(write(a=text)), 3) == [0, 1, 2, 3]


def test_names_of_the_c_library_and_tentative_definitions(write: Write) -> None:
    sources = write(
        a="int n; int daylight; int sin(void) { return 40; } void write_all(void); int time;"
        "int index(void) { return 2; } void step(void) { n += sin() + index() + daylight + time; write_all(); }",
        b="int daylight; extern int n; void write_all(void) { n = -n; }",
    )
    assert numbers(counter(sources), 1) == [0, 2**32 - 42]


def test_ten_thousand_steps_of_fifty_cells(write: Write) -> None:
    sources = write(a="int t[50]; int in; void step(void) { for (int i = 0; i < 50; i++) t[i] += in * i; }")
    t, given = static("t", sources[0], 200), static("in", sources[0])
    cells = [Cell(f"t[{i}]", t.name, 4 * i, 4) for i in range(50)] + [whole(given)]
    with compiled(interface(sources, [t, given], cells, Call("step"))) as program:
        states = program.run([{"in": 1}] * 10_000)
        pairs = list(zip(states[:-1], [{"in": 1}] * 10_000, strict=True))
        assert program.steps(pairs) == states[1:]
    assert states[-1]["t[3]"] == 30_000


def test_the_build_is_removed_and_no_process_of_ours_loads_it(write: Write) -> None:
    native = counter(
        write(a="#include <stdlib.h>\nint n; __attribute__((constructor)) void c(void) { n = 3; } void step(void) {}")
    )
    with compiled(native) as program:
        library = Path(program._plan.image.library)
        assert library.exists()
        assert program.run([]) == [{"n": 3}]
        if os.path.exists("/proc/self/maps"):
            assert str(library) not in Path("/proc/self/maps").read_text()
    assert not library.parent.exists()
