"""Drawn structs and unions: size and the place of each member equal the compiler's: ``python -m benchmarks layouts``.

Members are of all types, nested, unnamed, bit-fields, packed, aligned, under ``#pragma pack``. The compiler's place of
a member is where its bits are when all of them are set in an object of zeros.
"""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from bmc.models.c.controller.reading import SourceConfig, read_program
from bmc.models.c.source.program import Typedef
from bmc.models.c.source.types import (
    UNNAMED,
    ArrayType,
    CType,
    DataModel,
    IntType,
    StructType,
    bit_offset_of,
    bits_of,
    size_of,
    type_at,
)
from bmc.models.c.source.types import (
    Path as Way,
)
from bmc.native.original import find_compiler

PER_FILE = 100
"""Types in one program."""
SCALARS = (
    *("char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long"),
    *("long long", "unsigned long long", "_Bool", "float", "double", "address", "enum colour", "wide", "narrow"),
)
FIELDS = (
    *("int", "unsigned", "signed char", "unsigned char", "short", "unsigned short", "long", "unsigned long"),
    *("long long", "unsigned long long", "_Bool", "enum colour", "wide", "narrow"),
)
WIDTHS = {"char": 8, "short": 16, "_Bool": 1, "long long": 64, "narrow": 64}
HEAD = """\
typedef void *address;
enum colour { RED, GREEN, BLUE };
typedef int wide __attribute__((aligned(16)));
typedef long long narrow __attribute__((aligned(2)));
"""
MAIN = """\
#include <stdio.h>
#include <string.h>
static void at(const unsigned char *b, unsigned long n) {
  long first = -1, last = -1;
  for (unsigned long k = 0; k < 8 * n; k++) if (b[k / 8] >> k % 8 & 1) { if (first < 0) first = k; last = k; }
  printf(" %ld:%ld", first, last + 1);
}
"""


class Drawn:
    """One struct or union type ``t<number>``."""

    def __init__(self, source: random.Random, number: int) -> None:
        self.random = source
        self.names = 0
        pack = source.choice((0, 0, 0, 1, 2, 4, 8, 16))
        body = self._body(2, f"s{number}")
        text = f"typedef {body} t{number};\n"
        self.text = f"#pragma pack(push, {pack})\n{text}#pragma pack(pop)\n" if pack else text

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _aligned(self) -> str:
        return f"__attribute__((aligned({self.random.choice((1, 2, 4, 8, 16, 32))})))"

    def _body(self, depth: int, tag: str = "") -> str:
        """A struct or union with its members and attributes."""
        kind = "union" if self._chance(0.2) else "struct"
        before = "__attribute__((packed)) " if self._chance(0.1) else ""
        behind = " __attribute__((packed))" if self._chance(0.15) else ""
        behind += f" {self._aligned()}" if self._chance(0.15) else ""
        if self._chance(0.05):
            before, behind = "", " __attribute__((packed, aligned(4)))"
        members = "".join(self._member(depth, kind) for _ in range(self.random.randint(1, 6)))
        return f"{kind} {before}{tag} {{ {members}}}{behind}"

    def _member(self, depth: int, kind: str) -> str:
        number = self.random.random()
        if number < 0.45:
            return self._bit_field()
        name = self._name()
        after = f" {self._aligned()}" if self._chance(0.1) else ""
        after += " __attribute__((packed))" if self._chance(0.1) else ""
        before = ""
        ctype = self.random.choice(SCALARS)
        if self._chance(0.05) and ctype not in ("wide", "narrow"):
            before = f"_Alignas({self.random.choice((8, 16, 32))}) "
        if number < 0.6 and depth:
            ctype = self._body(depth - 1)
            name = "" if self._chance(0.4) else name
            after = after if name else ""
            before = ""
        length = f"[{self.random.randint(1, 3)}]" if name and self._chance(0.25) and ctype != "wide" else ""
        second = f", {self._name()}" if name and self._chance(0.1) else ""
        return f"{before}{ctype} {name}{length}{after}{second}; "

    def _bit_field(self) -> str:
        ctype = self.random.choice(FIELDS)
        most = next((bits for word, bits in WIDTHS.items() if word in ctype), 32)
        width = self.random.randint(1, most)
        if self._chance(0.15):
            return f"{ctype} : {0 if self._chance(0.5) else width}; "
        after = f" {self._aligned()}" if self._chance(0.05) else ""
        after += " __attribute__((packed))" if self._chance(0.05) else ""
        return f"{ctype} {self._name()} : {width}{after}; "

    def _name(self) -> str:
        self.names += 1
        return f"m{self.names}"


def leaves(ctype: CType, way: Way = ()) -> Iterator[Way]:
    """The ways to all members that are no struct, of all members of unions too."""
    inner = type_at(ctype, way)
    if isinstance(inner, ArrayType):
        for index in range(inner.length or 0):
            yield from leaves(ctype, (*way, index))
    elif isinstance(inner, StructType):
        for member in inner.members():
            if member.has_cells:
                yield from leaves(ctype, (*way, member.name))
    else:
        yield way


def ours(struct: StructType, model: DataModel) -> str:
    """Size and places of a type, as the compiled program prints them."""
    places = []
    for way in leaves(struct):
        start, inner = bit_offset_of(struct, way, model), type_at(struct, way)
        whole = isinstance(inner, IntType) and inner.is_bool and inner.bits > 1
        places.append(f" {start}:{start + (1 if whole else bits_of(inner, model))}")
    return f"{size_of(struct, model)}{''.join(places)}"


def _shown(way: Way) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in way if not str(p).startswith(UNNAMED))


def _prints(name: str, struct: StructType) -> str:
    """C that prints the size and the places of a type."""
    lines = [f'{{ {name} x; printf("%lu", (unsigned long)sizeof x);']
    for way in leaves(struct):
        inner, member = type_at(struct, way), f"x{_shown(way)}"
        if isinstance(inner, IntType):
            setting = f"{member} = -1;" if not inner.is_bool else f"{member} = 1;"
        else:
            setting = f"memset(&{member}, 255, sizeof {member});"
        lines.append(f"memset(&x, 0, sizeof x); {setting} at((unsigned char *)&x, sizeof x);")
    return " ".join([*lines, r'printf("\n"); }'])


def compare(seeds: range, target: str, folder: Path) -> list[str]:
    """What differs between ours and the compiler's layout of the types drawn with ``seeds``."""
    drawn = [Drawn(random.Random(seed), seed) for seed in seeds]
    text = HEAD + "".join(each.text for each in drawn)
    file = folder / "types.c"
    file.write_text(text, encoding="utf-8")
    program, _, _ = read_program(SourceConfig("layouts", (str(file),), target=target))
    names = program.units[0].scope.names
    types: dict[str, StructType] = {}
    for seed in seeds:
        known = names[f"t{seed}"]
        assert isinstance(known, Typedef)
        assert isinstance(known.ctype, StructType)
        types[f"t{seed}"] = known.ctype
    body = "\n".join(_prints(name, struct) for name, struct in types.items())
    (folder / "main.c").write_text(f"{MAIN}{text}int main(void) {{ {body}\nreturn 0; }}\n", encoding="utf-8")
    command = [
        *shlex.split(find_compiler() or "cc"),
        "-w",
        "-Wno-packed-bitfield-compat",
        *(["-m32"] if target == "ilp32" else []),
    ]
    subprocess.run([*command, "main.c", "-o", "main"], cwd=folder, check=True)
    printed = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=True).stdout.splitlines()
    differences = []
    for (name, struct), found, each in zip(types.items(), printed, drawn, strict=True):
        expected = ours(struct, program.model)
        if expected != found:
            differences.append(f"{target} {name}: ours {expected}\n  the compiler's {found}\n  {each.text}")
    return differences


@click.command()
@click.option("--count", default=5000, show_default=True, help="Types to draw.")
@click.option("--first", default=0, show_default=True, help="The first seed.")
def main(count: int, first: int) -> None:
    """Compare drawn layouts with the compiler's, for lp64 and ilp32; exit code 1 if one differs."""
    failed = 0
    for target in ("lp64", "ilp32"):
        with tempfile.TemporaryDirectory() as name:
            differences = []
            for start in range(first, first + count, PER_FILE):
                seeds = range(start, min(start + PER_FILE, first + count))
                differences += compare(seeds, target, Path(name))
        for text in differences[:10]:
            click.echo(text)
        click.echo(f"{target}: {count} types, {len(differences)} differ")
        failed += len(differences)
    sys.exit(1 if failed else 0)
