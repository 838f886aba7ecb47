"""Expressions over the variables of a machine."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from drawn_machines import own_environment, quoted
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import InputRefused, Location
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.terms import negate
from bmc.formulas.unroll import unplaced
from bmc.models.mealy.dot import read_machine
from bmc.models.mealy.language import MachineLanguage, Moment, Node, Value
from bmc.models.mealy.machine import MachineModel
from bmc.models.model import UnknownFunction

__all__ = ["own_environment"]
WHERE = Location("project.toml", 7)
MACHINE = r"""digraph {
__start0 -> s1
s1 -> s2 [label="go/ok"]; s1 -> s1 [label="a  b/true"]; s1 -> s1 [label="stop/input"]
s2 -> s1 [label="go/no \"way\""]; s2 -> s2 [label="a  b/0"]; s2 -> "and \"x\"" [label="stop/back\slash"]
"and \"x\"" -> s1 [label="go/ok"]; "and \"x\"" -> s1 [label="a  b/ok"]; "and \"x\"" -> s1 [label="stop/ok"]
}"""
OPERATORS = ("call_X_", "call_since_")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MachineModel:
    file = tmp_path_factory.mktemp("language") / "machine.dot"
    file.write_text(MACHINE, encoding="utf-8")
    return MachineModel(read_machine(str(file)))


@pytest.fixture
def language(model: MachineModel) -> MachineLanguage:
    return model.language(WHERE, OPERATORS)


def no_operator(expression: Node, moment: Moment) -> Value:
    raise AssertionError(expression)


def holding(model: MachineModel, text: str) -> set[tuple[str, str, str]]:
    """Input, state and output, by name, of each moment at which the text holds."""
    language = model.language(WHERE, OPERATORS)
    (formula,) = unplaced([language.holds(language.parse(text), 0, no_operator)])
    value = compile_formulas([formula])
    names = [var.name for var in model.variables]
    return {
        tuple(label for label, _ in labels)  # type: ignore[misc]
        for labels in product(*(var.type.labels for var in model.variables))
        if value({name: number for name, (_, number) in zip(names, labels, strict=True)})[0]
    }


Condition = Callable[[str, str, str], bool]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("state == s1", lambda i, s, o: s == "s1"),
        ("s1 == state", lambda i, s, o: s == "s1"),
        ('input == "a  b"', lambda i, s, o: i == "a  b"),
        ("output != ok", lambda i, s, o: o != "ok"),
        ("output == true", lambda i, s, o: o == "true"),
        ("output == 0", lambda i, s, o: o == "0"),
        ('output == "input"', lambda i, s, o: o == "input"),
        (r'output == "no \"way\""', lambda i, s, o: o == 'no "way"'),
        (r'output == "back\slash"', lambda i, s, o: o == "back\\slash"),
        (r'output == "back\\slash"', lambda i, s, o: o == "back\\slash"),
        ('output == "no output yet"', lambda i, s, o: o == "no output yet"),
        ('state == "and \\"x\\""', lambda i, s, o: s == 'and "x"'),
        ("true", lambda i, s, o: True),
        ("false || (true)", lambda i, s, o: True),
        ("!false && input==go", lambda i, s, o: i == "go"),
        ("state == s1 && input == go || output == ok", lambda i, s, o: (s == "s1" and i == "go") or o == "ok"),
        ("output == ok || state == s1 && input == go", lambda i, s, o: (s == "s1" and i == "go") or o == "ok"),
        ("state == s1 && (input == go || output == ok)", lambda i, s, o: s == "s1" and (i == "go" or o == "ok")),
        ("!(state == s1) && !!(input == go)", lambda i, s, o: s != "s1" and i == "go"),
        ("!(state == s1) == (input == go)", lambda i, s, o: (s != "s1") == (i == "go")),
        ("(state == s1) != true", lambda i, s, o: s != "s1"),
        ("(state == s1) == !(input == go)", lambda i, s, o: (s == "s1") != (i == "go")),
        ("state\n ==\ts1", lambda i, s, o: s == "s1"),
        ("state == state", lambda i, s, o: True),
    ],
)
def test_meaning(model: MachineModel, text: str, condition: Condition) -> None:
    labels = [[label for label, _ in var.type.labels] for var in model.variables]
    assert holding(model, text) == {each for each in product(*labels) if condition(*each)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot read the expression ''"),
        ("state ==", "cannot read the expression 'state =='"),
        ("(state == s1", "cannot read the expression"),
        ("state == s1)", "cannot read the expression"),
        ("state s1", "cannot read the expression"),
        ("state = s1", "'=' cannot stand in it"),
        ("state == s1 # more", "'#' cannot stand in it"),
        ("state < s1", "'<' cannot stand in it"),
        ("state == a + b", "'+' cannot stand in it"),
        ('state == "s1', "'\"' cannot stand in it"),
        ("state == s1 == s2", "cannot read the expression"),
        ("(state, input)", "cannot read the expression"),
        ("(state)(input)", "'state' is no operator"),
        ("(" * 2000 + "true" + ")" * 2000, "cannot read the expression"),
        ("!" * 200_000 + "true", "cannot read the expression"),
        ("state", "'state' is no condition"),
        ("!input", "'input' is no condition"),
        ("s1", "unknown name 's1'"),
        ("stat == s1", "neither 'stat' nor 's1' is a variable"),
        ("state == go", "'go' is no value of 'state'"),
        ("state == S1", "did you mean 's1'"),
        ("state == output", "'state' has no value in common with 'output'"),
        ("(state == s1) == s1", "unknown name 's1'"),
    ],
)
def test_refusals_have_the_place_of_the_text(model: MachineModel, text: str, words: str) -> None:
    with pytest.raises(InputRefused) as caught:
        holding(model, text)
    assert words in str(caught.value)
    assert caught.value.where == WHERE


def test_functions_are_unknown(language: MachineLanguage) -> None:
    with pytest.raises(UnknownFunction, match="'f' is no operator"):
        language.parse("f(state == s1)")


def test_names_of_python_are_names(tmp_path: Path) -> None:
    words = ["if", "lambda", "not", "None", "and", "x0", "__import__"]
    arrows = "".join(f"{quoted(word)} -> if [label={quoted(word + '/' + word)}]" for word in words)
    file = tmp_path / "machine.dot"
    file.write_text(f"digraph {{ __start0 -> if; {arrows} }}", encoding="utf-8")
    model = MachineModel(read_machine(str(file), partial=True))
    for word in words:
        assert {state for _, state, _ in holding(model, f"state == {word}")} == {word}


def test_operators_are_given_their_call_and_their_moment(language: MachineLanguage) -> None:
    seen = []

    def operator(expression: Node, moment: Moment) -> Value:
        assert expression.call is not None
        name, arguments = expression.call
        seen.append((name, len(arguments), moment.step))
        if name == "call_X_":
            return moment.value(arguments[-1], moment.step + language.constant(arguments[1]))
        return moment.of(negate(moment.truth(moment.value(arguments[-1], moment.step))))

    text = "call_X_(1, 2, state) == s1 && call_since_(0, (true), call_X_(0, 1, input == go))"
    formula = language.holds(language.parse(text), 3, operator)
    assert seen == [("call_X_", 3, 3), ("call_since_", 3, 3), ("call_X_", 3, 3)]
    plain = language.parse("state == s1"), language.parse("!(input == go)")
    first, second = (language.holds(each, step, no_operator) for each, step in zip(plain, (5, 4), strict=True))
    assert {*formula.args()} == {first, second}


def test_what_properties_look_at(language: MachineLanguage) -> None:
    both = language.parse("state == s1 && input == go && true")
    left, right = both.parts
    assert (both.connective, left.connective, left.parts[0].connective) == ("&&", "&&", "")
    assert [each.name for each in left.parts[0].parts] == ["state", "s1"]
    assert (right.name, right.operation, both.operation, both.call) == ("true", False, True, None)
    assert (language.reads(both, ["input"]), language.reads(both, ["output"])) == (True, False)
    assert not language.reads(language.parse('state == "input"'), ["input"])
    call = language.parse("call_X_(0, input == go)")
    assert (call.operation, call.name, call.connective, language.reads(call, ["input"])) == (False, "", "", False)
    assert language.reads(language.parse("call_X_(0, true) && input == go"), ["input"])


def test_expressions_are_put_together(language: MachineLanguage) -> None:
    left, right = language.parse("state == s1"), language.parse("input == go")
    assert language.apply("&&", left, right) == language.parse("state == s1 && input == go")
    assert language.apply("!", left) == language.parse("!(state == s1)")
    assert language.apply("!=", left, right) == language.parse("(state == s1) != (input == go)")
    assert language.apply("call_X_", language.number(0), left) == language.parse("call_X_(0, state == s1)")
    assert language.constant(language.number(12)) == 12
    with pytest.raises(InputRefused, match="a whole number has to stand here"):
        language.constant(left)


def test_values(language: MachineLanguage, model: MachineModel) -> None:
    def value(text: str) -> tuple[FNode, FNode, str]:
        term, defined, kind = language.value(language.parse(text))
        return (*unplaced([term, defined]), kind.name)  # type: ignore[return-value]

    state = model.system.state[0]
    assert value("state") == (state.symbol, TRUE(), "state")
    assert value("state == s1")[1:] == (TRUE(), "bool")
    assert value("true") == (TRUE(), TRUE(), "bool")


def test_words(language: MachineLanguage) -> None:
    assert [language.declares(word) for word in ("state", "s1", "go", "ok", "inf")] == [True, True, True, True, False]
    assert language.expanded("state == s1") == language.shown("state == s1") == "state == s1"
    assert not language.is_member(["state"], "s1")
