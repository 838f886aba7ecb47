"""The preprocessor ends on every input: what multiplies or includes itself is refused with its place."""

from __future__ import annotations

import random
import subprocess
import tracemalloc
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from drawn_seeds import seeds

from bmc.errors import InputRefused, Location
from bmc.limits import INCLUDED, MACROS, STRING, TOKENS, TooLarge
from bmc.models.c.source import headers
from bmc.models.c.source import preprocess as preprocessor
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.preprocessed import PreprocessedUnit
from bmc.models.c.source.tokens import rows_of, tokens_of
from bmc.models.c.source.types import DATA_MODELS
from bmc.native.original import find_compiler
from bmc.stack import with_deep_stack


def expanded(folder: Path, text: str, **headers: str) -> PreprocessedUnit:
    for name, content in {"c.c": text, **{f"{name}.h": content for name, content in headers.items()}}.items():
        (folder / name).write_text(content, encoding="utf-8")
    return preprocess(str(folder / "c.c"), Given(), DATA_MODELS["lp64"])


LEVELS = "".join(f"#define A{k + 1} {f'A{k} ' * 10}\n" for k in range(11))
NUMBERS = f"#define A0 +1\n{LEVELS}"
NOTHING = f"#define A0\n{LEVELS}"
BOMBS = {
    "text": f"{NUMBERS}int x = A11;",
    "nothing": f"{NOTHING}int x = 1 A11;",
    "argument": f"{NUMBERS}#define S(x) #x\n#define T(x) S(x)\nint x = sizeof T(A11);",
    "function": f"#define F(x) {'x ' * 10}\nint x = {'F(' * 11}+1{')' * 11};",
    "condition": f"{NUMBERS}#if 0 A11\n#endif\n",
    "include": f"{NUMBERS}#include A11\n",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_macros_that_multiply(bomb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocessor, "TOKENS", replace(TOKENS, most=20_000))
    with pytest.raises(TooLarge, match="tokens in this file with its headers, macros expanded") as caught:
        expanded(tmp_path, BOMBS[bomb])
    assert caught.value.where is not None
    assert caught.value.where.line > 0
    assert caught.value.where.file.endswith("c.c")


def test_macros_of_a_property_that_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocessor, "TOKENS", replace(TOKENS, most=20_000))
    unit = expanded(tmp_path, NUMBERS)
    assert unit.expand("n == 1 A2").count("+1") == 100
    with pytest.raises(TooLarge):
        unit.expand("n == 1 A11")


@pytest.mark.parametrize("last", ["1", "D0"])
def test_macros_of_macros(last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is as deep as another, however many; a name that comes again stays as it is."""
    monkeypatch.setattr(preprocessor, "MACROS", replace(MACROS, most=50))
    links = "".join(f"#define D{k} D{k + 1}\n" for k in range(49))
    text = expanded(tmp_path, f"{links}#define D49 {last}\nint x[] = {{D0, D0}};").text
    assert text.replace(" ", "").endswith(f"{{{last},{last}}};\n")
    with pytest.raises(TooLarge, match="more than 50 macros active at once") as caught:
        expanded(tmp_path, f"{links}#define D49 D50\n#define D50 {last}\nint x = D0;")
    assert caught.value.where is not None
    assert caught.value.where.line == 52


def test_a_chain_of_macros_takes_memory_in_proportion_to_its_length(tmp_path: Path) -> None:
    """Ten times the links may take twelve times the memory."""
    most = []
    for links in (150, 1_500):
        unit = expanded(tmp_path, "".join(f"#define D{k} D{k + 1}\n" for k in range(links)))
        tracemalloc.start()
        assert with_deep_stack(partial(unit.expand, "D0")) == f"D{links}"
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[1] < 12 * most[0]


LONG = {
    "comment": "/*" + "a * \n" * 30_000 + "*/",
    "string": '"' + "a " * 80_000 + '"',
    "escapes": '"' + "\\x41" * 40_000 + '"',
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_token_takes_memory_of_its_own_size_alone(name: str) -> None:
    """Comments and strings took 500 bytes a character: 6 GB for a comment of 12 MB."""
    tracemalloc.start()
    tokens = [token.text for row in rows_of(LONG[name]) for token in tokens_of(row)]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tokens == ([] if name == "comment" else [LONG[name]])
    assert most < 10 * len(LONG[name])


def test_long_strings_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocessor, "STRING", replace(STRING, most=50))
    assert "x" * 48 in expanded(tmp_path, f'char s[] = "{"x" * 48}"; /* {"y" * 100} */').text
    with pytest.raises(TooLarge, match="more than 50 characters in a string constant") as caught:
        expanded(tmp_path, f'\nchar s[] = "{"x" * 49}";')
    assert caught.value.where is not None
    assert (Path(caught.value.where.file).name, caught.value.where.line) == ("c.c", 2)


def test_headers_that_include_themselves(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="more than 200 files that include one another"):
        expanded(tmp_path, '#include "c.c"\n')
    with pytest.raises(TooLarge, match="more than 200 files that include one another") as caught:
        expanded(tmp_path, '#include "a.h"\n', a='\n#include "b.h"\n', b='#include "a.h"\n')
    assert caught.value.where is not None
    assert (Path(caught.value.where.file).name, caught.value.where.line) in {("a.h", 2), ("b.h", 1)}


def test_headers_that_include_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "INCLUDED", replace(INCLUDED, most=500))
    texts = {f"h{k}": f'#include "h{k + 1}.h"\n' * 10 for k in range(9)}
    with pytest.raises(TooLarge, match="files included"):
        expanded(tmp_path, '#include "h0.h"\n', **texts, h9="")
    assert expanded(tmp_path, '#include "h0.h"\n' * 40, h0="int x;\n").text.count("int x;") == 40


MALFORMED = {
    "define": "#define",
    "undef": "#undef",
    "ifdef": "#ifdef\n#endif",
    "ifndef": "#ifndef\n#endif",
    "if": "#if\n#endif",
    "not": "#if !\n#endif",
    "include": "#include",
    "nothing to include": "#define E\n#include E",
    "parameters": "#define f(",
    "no parameter": "#define f(1) 1",
    "no value": "#if 1/0\n#endif",
    "long number": f"#if {'9' * 5_000}\n#endif",
}


@pytest.mark.parametrize("directive", MALFORMED)
def test_a_malformed_directive_is_refused_with_its_line(directive: str, tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as caught:
        expanded(tmp_path, f"int x;\n{MALFORMED[directive]}\n")
    assert caught.value.where is not None
    assert caught.value.where.line in (2, 3)


@pytest.mark.parametrize("name", ["", "A(", "1"])
def test_an_option_that_defines_no_macro_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("")
    with pytest.raises(InputRefused, match="is no macro's name") as caught:
        preprocess(str(tmp_path / "c.c"), Given(defines=((name, "1"),)), DATA_MODELS["lp64"])
    assert caught.value.where == Location("-D")


OPERANDS = (
    *("0", "1", "2", "5", "7U", "-1", "-3", "-5", "63", "64", "65", "-64", "100000000000", "3000000000"),
    *("9223372036854775807", "(-9223372036854775807-1)", "18446744073709551615U", "0x8000000000000000", "0777"),
)


@pytest.mark.needs_compiler
@seeds(2)
def test_conditions_are_computed_as_the_compiler_does(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    source, folder = random.Random(seed), tmp_path_factory.mktemp("conditions")
    texts = []
    for _ in range(150):
        a, b, c = (source.choice(OPERANDS) for _ in range(3))
        first, second = source.choice(["<<", ">>", "/", "%", "*", "-"]), source.choice(["<", "==", "&", "/", "+", ">>"])
        texts.append(f"({a} {first} {b if first not in '/%' or b != '0' else 1}) {second} {c if c != '0' else 1}")
    text = "".join(f"#if {condition}\nint y{n};\n#else\nint n{n};\n#endif\n" for n, condition in enumerate(texts))
    (folder / "c.c").write_text(text)
    command = [find_compiler() or "cc", "-E", "-P", "-w", str(folder / "c.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "error: " not in done.stderr
    ours = [row for row in expanded(folder, text).text.splitlines() if row.startswith("int")]
    assert ours == [row for row in done.stdout.splitlines() if row.startswith("int")]
