"""Reading machines from DOT: what is read, and what is refused with its place."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from drawn_machines import as_dot, drawn_machine
from drawn_seeds import seeds

from bmc.errors import InputRefused
from bmc.models.mealy.dot import Machine, read_machine

MEALY = """digraph coffee {
s0 [label="s0"];
s1 [label="s1"];
s0 -> s1 [label="coin/ beep"];
s0 -> s0 [label="button / init"];
s1 -> s1 [label="coin/beep"];
s1 -> s0 [label="button/coffee"];
__start0 [label="", shape=none];
__start0 -> s0 [label=""];
}
"""
ONE = 'digraph { __start0 -> a; a -> a [label="x/y"] }'


def machine_of(folder: Path, text: str, **options: object) -> Machine:
    file = folder / "machine.dot"
    file.write_text(text, encoding="utf-8")
    return read_machine(str(file), **options)  # type: ignore[arg-type]


def table(machine: Machine) -> dict[tuple[str, str], tuple[str, str]]:
    return {(each.source, each.input): (each.target, each.output) for each in machine.transitions}


def refused(folder: Path, text: str, line: int, words: str, **options: object) -> None:
    with pytest.raises(InputRefused) as caught:
        machine_of(folder, text, **options)
    assert words in str(caught.value)
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line) == (str(folder / "machine.dot"), line)


def test_a_mealy_machine_with_its_lines(tmp_path: Path) -> None:
    machine = machine_of(tmp_path, MEALY)
    assert (machine.states, machine.inputs, machine.start, machine.first) == (
        ("s0", "s1"),
        ("coin", "button"),
        "s0",
        None,
    )
    assert table(machine) == {
        ("s0", "coin"): ("s1", "beep"),
        ("s0", "button"): ("s0", "init"),
        ("s1", "coin"): ("s1", "beep"),
        ("s1", "button"): ("s0", "coffee"),
    }
    assert [each.line for each in machine.transitions] == [4, 5, 6, 7]


@pytest.mark.parametrize("label", ["{} | {}", "{{ {}|{} }}", "{} / {}"])
def test_a_moore_machine_has_its_outputs_at_the_states(tmp_path: Path, label: str) -> None:
    nodes = f'A [label="{label.format("A", "off")}"] B [label="{label.format("B", "on|x")}"]'
    machine = machine_of(tmp_path, f"digraph {{ {nodes} A -> B [label=go] B -> A [label=go] __start0 -> B }}")
    assert (machine.start, machine.first) == ("B", "on|x")
    assert table(machine) == {("A", "go"): ("B", "on|x"), ("B", "go"): ("A", "off")}


def test_a_label_without_a_mark_is_the_output_of_a_moore_state(tmp_path: Path) -> None:
    machine = machine_of(tmp_path, 'digraph { q [label="N"]; q -> q [label=d]; __start0 -> q }')
    assert (machine.first, table(machine)) == ("N", {("q", "d"): ("q", "N")})


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"a  b"', "a  b"),
        ('"say \\"hi\\""', 'say "hi"'),
        ('"two " + "parts"', "two parts"),
        ('"a\\\nb"', "ab"),
        ('"back\\slash"', "back\\slash"),
        ('"pair\\\\"', "pair\\\\"),
        ('"x -> y [label=z]; // no comment"', "x -> y [label=z]; // no comment"),
        ("-1.5", "-1.5"),
        ("été", "été"),
        ('"node"', "node"),
        ('""', ""),
    ],
)
def test_names_lose_no_blank_and_no_sign(tmp_path: Path, written: str, name: str) -> None:
    machine = machine_of(tmp_path, f'digraph {{ __start0 -> {written}; {written} -> {written} [label="x/y"] }}')
    assert machine.states == (name,)


def test_blanks_within_inputs_and_outputs_stay(tmp_path: Path) -> None:
    text = 'digraph { __start0 -> a; a -> a [label="  press  twice / Alert Fatal (Illegal parameter) & x  "] }'
    (only,) = machine_of(tmp_path, text).transitions
    assert (only.input, only.output) == ("press  twice", "Alert Fatal (Illegal parameter) & x")


def test_two_slashes_are_ambiguous_unless_a_separator_is_given(tmp_path: Path) -> None:
    text = ONE.replace("x/y", "GET /a / 200")
    refused(tmp_path, text, 1, "the label 'GET /a / 200' is not one input and one output")
    (only,) = machine_of(tmp_path, text, separator=" / ").transitions
    assert (only.input, only.output) == ("GET /a", "200")
    refused(tmp_path, text.replace("200", "a / b"), 1, "is not one input and one output", separator=" / ")


def test_an_empty_output_is_one(tmp_path: Path) -> None:
    (only,) = machine_of(tmp_path, ONE.replace("x/y", "x / ")).transitions
    assert (only.input, only.output) == ("x", "")


def test_html_labels_are_read_as_they_are_shown(tmp_path: Path) -> None:
    label = "<<table border='0'><tr><td>a &amp; b</td><td>/</td><td><b>ok</b></td></tr></table>>"
    (only,) = machine_of(tmp_path, f"digraph {{ __start0 -> a; a -> a [label={label}] }}").transitions
    assert (only.input, only.output) == ("a & b", "ok")


@pytest.mark.parametrize(
    "text",
    [
        '/* a -> b */ digraph { // [\n# {\n __start0 -> a; a -> a [label="x/y"] }',
        'DIGRAPH "g" { Node [shape=circle]; edge [color=red] graph [label="a/b"]; rankdir=LR; label="a/b" '
        'subgraph cluster0 { color=blue; a } { a:n -> a:"p q":s [label="x/y", color=red; style=bold][width=1] } '
        "; __start0 -> a }",
        'strict digraph { __start0 -> a; a -> a [label="x/y"] };'.rstrip(";"),
        'digraph { i [shape=point]; i -> a -> a [label="x/y"] }'.replace("i -> a -> a", "i -> a; a -> a"),
        'digraph { i [style="invis,bold"]; i -> a [label=""]; a -> a [label="x/y"] }',
        '\ufeffdigraph{__start0->a;a->a[label="x/y"]}\r\n\r\n',
    ],
)
def test_what_means_nothing_is_passed_over(tmp_path: Path, text: str) -> None:
    machine = machine_of(tmp_path, text)
    assert (machine.states, machine.start, table(machine)) == (("a",), "a", {("a", "x"): ("a", "y")})


def test_a_chain_of_arrows_has_one_label(tmp_path: Path) -> None:
    text = 'digraph { __start0 -> a\n a -> b -> c -> a [label="x/y"] }'
    assert [(each.source, each.target, each.line) for each in machine_of(tmp_path, text).transitions] == [
        ("a", "b", 2),
        ("b", "c", 2),
        ("c", "a", 2),
    ]


def test_a_state_that_nothing_reaches_stays(tmp_path: Path) -> None:
    machine = machine_of(tmp_path, ONE.replace("}", '; b -> a [label="x/z"] }'))
    assert machine.states == ("a", "b")


def test_a_node_with_labelled_arrows_is_a_state_however_it_is_drawn(tmp_path: Path) -> None:
    text = 'digraph { a [shape=plaintext]; __start0 -> a; a -> a [label="x/y"] }'
    assert machine_of(tmp_path, text).states == ("a",)


def test_no_arrow_shows_the_start(tmp_path: Path) -> None:
    refused(tmp_path, MEALY.replace('__start0 -> s0 [label=""];', ""), 1, "no arrow shows where the machine starts")


def test_two_arrows_show_the_start(tmp_path: Path) -> None:
    text = MEALY.replace("}\n", "__start1 -> s1;\n}\n")
    refused(tmp_path, text, 10, "2 arrows show where the machine starts")


def test_two_arrows_for_one_input_are_refused_with_both_places(tmp_path: Path) -> None:
    text = MEALY.replace("button / init", "coin / init")
    refused(tmp_path, text, 5, "a second arrow leaves 's0' for the input 'coin'; the first stands in line 4")
    refused(tmp_path, text, 5, "the first stands in line 4", partial=True)


def test_an_input_that_a_state_lacks_is_refused_or_not_allowed(tmp_path: Path) -> None:
    text = MEALY.replace('s1 -> s1 [label="coin/beep"];\n', "")
    refused(tmp_path, text, 3, "no arrow leaves 's1' for the input 'coin'")
    assert len(machine_of(tmp_path, text, partial=True).transitions) == 3


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "a machine is a directed graph"),
        ("  \n// nothing\n", 3, "a machine is a directed graph"),
        ("graph { a -- b }", 1, "a machine is a directed graph"),
        ('digraph { a -- b [label="x/y"] }', 1, "'--' cannot stand here"),
        ("digraph {\n a -> \n}", 3, "'}' cannot stand here"),
        ('digraph {\n a -> b [label=\n"x/y" }', 3, "'}' cannot stand here"),
        ('digraph {\n a -> b [label="x/y]; }', 2, "'\"' cannot stand here"),
        ("digraph {\n a -> b [label=<<b>x/y]; }", 2, "'<' cannot stand here"),
        ("digraph {\n a -> b", 2, "the end of the file cannot stand here"),
        ("digraph { /* a -> b }", 1, "'/' cannot stand here"),
        (ONE + "\n}", 2, "'}' cannot stand here"),
        (ONE + "\n" + ONE, 2, "'digraph' cannot stand here"),
        ("digraph {\n {a b} -> c }", 2, "'->' cannot stand here"),
        ("digraph {\n a -> {b c} }", 2, "'{' cannot stand here"),
        ("digraph {\n a -> subgraph x { b c } }", 2, "'subgraph' cannot stand here"),
        ("digraph {\n <a> -> b }", 2, "'<a>' cannot stand here"),
        ('digraph {\n edge [label="x/y"] }', 2, "a label of all is the name of none"),
        ('digraph {\n node [label="x"] }', 2, "a label of all is the name of none"),
        (ONE.replace("a ->", "a -> b; a ->"), 1, "the arrow from 'a' to 'b' is no transition: it has no label"),
        (ONE.replace("}", '\n; a -> __start0 [label="z/z"] }'), 2, "'__start0' is no state"),
        (ONE.replace("}", '\n; __start0 -> a [label="z/z"] }'), 2, "'__start0' is no state"),
        (ONE.replace("}", "\n; a -> a [label=z] }"), 2, "the label 'z' is not one input and one output"),
        ("digraph { __start0 -> a;\n a -> a [label=x] }", 1, "the label '' of 'a' tells no output"),
        (
            'digraph { __start0 -> a; a [label="a|1"];\n b;\n a -> b [label=x]; b -> a [label=x] }',
            2,
            "the label '' of 'b' tells no output",
        ),
        (
            'digraph { __start0 -> a; a [label="a|1"];\n a -> a [label="x/y"] }',
            2,
            "an output stands both at each state and at an arrow",
        ),
        (
            'strict digraph { __start0 -> a; a -> a [label="x/y"]; a -> a [label="z/y"] }',
            1,
            "a strict graph has one arrow at most between two nodes",
        ),
    ],
)
def test_refusals(tmp_path: Path, text: str, line: int, words: str) -> None:
    refused(tmp_path, text, line, words)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="cannot read the machine: No such file"):
        read_machine(str(tmp_path / "none.dot"))
    (tmp_path / "raw.dot").write_bytes(b"digraph \xff")
    with pytest.raises(InputRefused, match="not UTF-8 text"):
        read_machine(str(tmp_path / "raw.dot"))


def test_deep_nesting_and_long_strings_are_no_trouble(tmp_path: Path) -> None:
    deep = "{" * 50_000 + "}" * 50_000
    pieces = " + ".join(['"a"'] * 500)
    machine = machine_of(tmp_path, f'digraph {{ {deep} __start0 -> a; a -> a [label="x/y", note={pieces}] }}')
    assert machine.states == ("a",)
    refused(tmp_path, "digraph { " + '"' * 99_999, 1, "cannot stand here")


@seeds(60)
def test_what_was_written_is_read_again(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = random.Random(seed)
    drawn = drawn_machine(rng, moore=rng.random() < 0.5, partial=True)
    machine = machine_of(tmp_path_factory.mktemp("drawn"), as_dot(drawn, rng), partial=True)
    assert (set(machine.states), set(machine.inputs)) == (set(drawn.states), set(drawn.inputs))
    assert (machine.start, machine.first, table(machine)) == (drawn.start, drawn.first, drawn.table)
