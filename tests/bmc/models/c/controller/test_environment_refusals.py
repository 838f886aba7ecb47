"""What a project cannot say, or has to say, about the environment of a program: refused with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from c_support import own_environment, read, refusal  # noqa: F401

from bmc.errors import InputRefused, SeveralRefused
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from chaincover.project.project_file import read_project

REFUSALS: dict[str, tuple[str, dict[str, Any], str, int]] = {
    "no role": (
        "int odd(int a);\nvoid step(int a) {\n r = odd(a); }",
        {},
        "the function 'odd' is called but not defined",
        3,
    ),
    "a queue": (
        "unsigned char Rte_Receive_P_V(int *d); void step(void) { int v;\n Rte_Receive_P_V(&v); }",
        {},
        "'Rte_Receive_P_V' is called but not defined; it takes from a queue",
        2,
    ),
    "a parameter without a value": (
        "int Rte_CData_Gain(void);\nvoid step(void) { r = Rte_CData_Gain(); }",
        {},
        "the value of the parameter 'Rte_CData_Gain' is unknown",
        2,
    ),
    "an input that depends on a value": (
        "int get(int channel);\nvoid step(void) { r = get(3); }",
        {"input_functions": ("get",)},
        "the input function 'get' takes a value",
        2,
    ),
    "a pointer to nothing known": (
        "void get(void *data);\nvoid step(void) { get(&r); }",
        {"input_functions": ("get",)},
        "parameter 1 of 'get' is void",
        2,
    ),
    "an address as value": (
        "void get(int **data); int *p;\nvoid step(void) { get(&p); }",
        {"input_functions": ("get",)},
        "parameter 1 of 'get' is an address",
        2,
    ),
    "an unknown number of elements": (
        "void get(char *data); char t[4]; void step(void) {\n get(t); }",
        {"input_functions": ("get",)},
        "how many elements 'get' moves is unknown",
        2,
    ),
    "an unknown number of bytes": (
        "void get(unsigned char *data); int w; void step(void) {\n get((unsigned char *)&w); }",
        {"input_functions": ("get",)},
        "how many elements 'get' moves is unknown",
        2,
    ),
    "an unknown number of bytes behind a moved pointer": (
        "void get(char *data); int w; void step(void) { char *p = (char *)&w;\n get(p + 1); }",
        {"input_functions": ("get",)},
        "how many elements 'get' moves is unknown",
        2,
    ),
    "an unknown status": (
        "int set(int v); void step(void) {\n if (set(3)) { r = 1; } }",
        {"output_functions": ("set",)},
        "what 'set' returns is unknown",
        2,
    ),
    "an input in init": (
        "int get(void); void init(void) {\n r = get(); } void step(void) { r = get(); }",
        {"input_functions": ("get",), "init": ("init",)},
        "init asks for the input 'get'",
        2,
    ),
    "too few arguments": (
        "void get(int *a, int *b); int a; void step(void) {\n get(&a); }",
        {"input_functions": ("get",)},
        r"'get' takes 2 argument\(s\), not 1",
        2,
    ),
    "another type of value": (
        "int load(void); void store(short v); void step(void) {\n r = load();\n store(1); }",
        {"shared": {"nvm": ("load", "store")}},
        "'store' moves a short, others of 'nvm' a int",
        3,
    ),
    "an extern that is read": ("\nextern int k; void step(void) { r = k; }", {}, "no source file defines it", 2),
    "a part of an extern that is read": (
        "\nextern struct { int a, b; } k; void step(void) { r = k.a + k.b; }",
        {"values": {"k.a": "1"}},
        "no source file defines it",
        2,
    ),
    "an extern table": (
        "\nextern const int k[2]; void step(void) { r = k[1]; }",
        {"values": {"k[0]": "1"}},
        "no source file defines it",
        2,
    ),
    "an extern pointer": ("\nextern int *k; void step(void) { r = *k; }", {}, "no source file defines it", 2),
    "a volatile object that is only read": (
        "\nvolatile int k; void init(void) { k = 3; } void step(void) { r = k; }",
        {"init": ("init",)},
        "the volatile object 'k' is read, and the step never writes it",
        2,
    ),
    "a value that is no constant": (
        "extern int k; void step(void) { r = k; }",
        {"values": {"k": "r"}},
        "the value of 'k'",
        0,
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused_and_where(name: str, tmp_path: Path) -> None:
    text, config, message, line = REFUSALS[name]
    error = refusal(tmp_path, f"static int r; {text}", **config)
    assert_matches(message, error.message)
    assert error.where is not None
    assert error.where.line == line
    assert error.hint


def assert_matches(pattern: str, text: str) -> None:
    with pytest.raises(ValueError, match=pattern):
        raise ValueError(text)


def test_a_function_with_a_body_is_never_replaced(tmp_path: Path) -> None:
    text = "int get(void) { return 4; } int r; void step(void) { r = get(); }"
    error = refusal(tmp_path, text, input_functions=("get",))
    assert "'get' is described as a function of the environment, but" in error.message
    model = read(tmp_path, text, input_functions=("get_*", "g?t"))
    assert not model.inputs


def test_one_inter_runnable_variable_under_two_names(tmp_path: Path) -> None:
    text = """int Rte_IrvIRead_Slow_sum(void); void Rte_IrvIWrite_Fast_sum(int v); int r;
    void step(int a) { r = Rte_IrvIRead_Slow_sum(); Rte_IrvIWrite_Fast_sum(a); }"""
    error = refusal(tmp_path, text)
    assert "may move one inter-runnable variable or two" in error.message
    assert '[functions.shared] sum = ["Rte_IrvIRead_Slow_sum", "Rte_IrvIWrite_Fast_sum"]' in error.hint
    names = ("Rte_IrvIRead_Slow_sum", "Rte_IrvIWrite_Fast_sum")
    one = read(tmp_path, text, shared={"sum": names})
    assert {v.name: v.role for v in one.variables} == {"a": "input", "r": "output", "sum": "state"}
    two = read(tmp_path, text, shared={"slow": names[:1], "fast": names[1:]})
    assert {v.name: v.role for v in two.variables} == {"a": "input", "r": "output", "slow": "input", "fast": "output"}


def test_the_project_file_describes_the_environment(tmp_path: Path) -> None:
    project = tmp_path / "chaincover.toml"
    lines = [
        "[sources]",
        'files = ["c.c"]',
        "[functions]",
        'input = ["get_*"]',
        'output = "set_x"',
        'status = ["Rte_*"]',
        "[functions.shared]",
        'level = ["load", "store"]',
        "[interface.values]",
        "K = 5",
        'LIMIT = "MAX"',
        "on = true",
        "low = -2.5",
    ]
    project.write_text("\n".join(lines))
    config = read_project(str(project)).config
    assert (config.input_functions, config.output_functions, config.status_functions) == (
        ("get_*",),
        ("set_x",),
        ("Rte_*",),
    )
    assert config.shared == {"level": ("load", "store")}
    assert config.values == {"K": "5", "LIMIT": "MAX", "on": "1", "low": "-2.5"}
    project.write_text("\n".join([*lines[:4], 'shared = ["load"]']))
    with pytest.raises(InputRefused, match="'shared' must be a table") as caught:
        read_project(str(project))
    assert caught.value.where is not None
    assert caught.value.where.line == 5
    project.write_text("\n".join([*lines[:4], "[interface]", "input = 3", "values = { K = [1] }"]))
    with pytest.raises(InputRefused, match="'input' must be a list") as caught:
        read_project(str(project))
    assert caught.value.where is not None
    assert caught.value.where.line == 6


def test_all_that_comes_from_outside_is_told_at_once(tmp_path: Path) -> None:
    text = (
        "extern int a; extern struct { int s, t; } b; volatile int v; volatile int w; int n, undone(int);\n"
        "void step(void) { n = a + b.s + v; w++; n = undone(n); }\n"
    )
    file = tmp_path / "c.c"
    file.write_text(text)
    with pytest.raises(SeveralRefused) as refused:
        read_c(SourceConfig("c", (str(file),), step="step"))
    told = str(refused.value)
    for part in (
        "the function 'undone' is called but not defined",
        "'a' is declared extern, but no source file defines it",
        "'b' is declared extern, but no source file defines it",
        '[interface.values] "b.s" = 0',
        "the volatile object 'v' is read, and the step never writes it",
        "the volatile object 'w' is read before the step writes it",
    ):
        assert part in told, told


def test_what_init_reads_of_objects_that_nothing_defines_is_no_uninitialised_read(tmp_path: Path) -> None:
    file = tmp_path / "c.c"
    file.write_text("extern int clock, base; int n; void init(void) { n = clock / base; } void step(void) { n = 1; }")
    with pytest.raises(SeveralRefused) as refused:
        read_c(SourceConfig("c", (str(file),), init=("init",), step="step"))
    assert [each.message for each in refused.value.errors] == [
        "'clock' is declared extern, but no source file defines it, and init reads it",
        "'base' is declared extern, but no source file defines it, and init reads it",
    ]
    values = {"clock": "12", "base": "3"}
    assert read_c(SourceConfig("c", (str(file),), init=("init",), step="step", values=values)).system.state
