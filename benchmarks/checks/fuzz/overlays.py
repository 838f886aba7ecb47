"""Random bit-fields, unions, packed and aligned structs, and what looks at their bytes, for random programs."""

from __future__ import annotations

from benchmarks.checks.fuzz.statements import Statements

FIELDS = {
    "unsigned": 32,
    "int": 32,
    "signed char": 8,
    "unsigned short": 16,
    "long": 32,
    "unsigned long long": 64,
    "_Bool": 1,
    "t_level": 32,
}
"""Types of bit-fields with the greatest width that is drawn."""
MEMBERS = ("unsigned char", "i16", "int", "unsigned", "unsigned long long", "u8", "t_mode")


class Overlays(Statements):
    """Types ``o0`` ... with a global ``g_o0`` and a member ``s->o0`` of each, and bytes ``raw``."""

    overlaid = False
    """Whether the program has such types."""
    types: list[tuple[str, list[tuple[str, str]]]]
    """The members that can be used of each type: the way to it, its type."""

    def overlay_types(self, count: int = 3) -> str:
        """The definitions of the types and of the globals."""
        self.types = []
        parts = ["static unsigned char g_raw[24], g_full[24] = {1, 2, 3};"]
        for number in range(count):
            found: list[tuple[str, str]] = []
            body = self._overlay_body("", 2, found)
            self.types.append((f"o{number}", found))
            parts.append(f"typedef {body} o{number};\nstatic o{number} g_o{number};")
            parts.append(
                f"static o{number} via{number}(o{number} a, int k) {{ {self._overlay_change(found)} return a; }}"
            )
        return "\n".join(parts)

    def overlay_members(self) -> str:
        """The members of the state."""
        return "".join(f" {name} {name};" for name, _ in self.types) + " unsigned char raw[24];"

    def overlay_places(self) -> None:
        """Let expressions read, and assignments write, the members of what is there."""
        for name, members in self.types:
            for base in (f"s->{name}", f"g_{name}"):
                for way, ctype in members:
                    if ctype == "float":
                        self.reads.append(f"({base}{way} > 1.5f)")
                    else:
                        self.reads.append(f"{base}{way}")
                        self.writes.append((f"{base}{way}", ctype))
        self.reads += ["s->raw[i->i0 & 15]", "g_raw[3]", "g_full[1]"]
        self.writes += [("s->raw[i->i1 & 7]", "u8"), ("g_raw[2]", "u8"), ("g_full[i->i2 & 15]", "u8")]

    def _overlay_body(self, way: str, depth: int, found: list[tuple[str, str]]) -> str:
        union = self.chance(0.45)
        members = [self._member(way, depth, union, found) for _ in range(self.random.randint(2, 4))]
        mark = self.pick(["", "", "", " __attribute__((packed))", " __attribute__((aligned(8)))"])
        mark = " __attribute__((packed, aligned(2)))" if self.chance(0.1) else mark
        return f"{'union' if union else 'struct'} {{ {' '.join(members)} }}{mark}"

    def _member(self, way: str, depth: int, union: bool, found: list[tuple[str, str]]) -> str:
        name, kind = self.fresh("m"), self.random.random()
        if kind < 0.25 and depth:
            named = self.chance(0.6)
            return f"{self._overlay_body(f'{way}.{name}' if named else way, depth - 1, found)} {name if named else ''};"
        if kind < 0.65 and not (union and self.chance(0.7)):
            ctype = str(self.pick(list(FIELDS)))
            if self.chance(0.1):
                return f"{ctype} : {self.random.randint(0, FIELDS[ctype])};"
            found.append((f"{way}.{name}", ctype))
            return f"{ctype} {name} : {self.random.randint(1, FIELDS[ctype])};"
        ctype = "float" if union and self.chance(0.2) else str(self.pick(MEMBERS))
        if self.chance(0.3):
            length = self.random.choice((2, 4))
            place = self.pick([f"[i->i2 & {length - 1}]", "[1]", "[0]"])
            found.append((f"{way}.{name}{place}", ctype))
            return f"{ctype} {name}[{length}];"
        found.append((f"{way}.{name}", ctype))
        mark = f" __attribute__((aligned({self.random.choice((2, 4, 8))})))" if self.chance(0.1) else ""
        return f"{ctype} {name}{mark};"

    def _overlay_change(self, found: list[tuple[str, str]]) -> str:
        usable = [way for way, ctype in found if "i->" not in way and ctype != "float"]
        return f"a{self.pick(usable)} = k;" if usable else ""

    def overlay_statement(self) -> str:
        """A statement that copies, compares, fills or looks at bytes."""
        name, members = self.pick(self.types)
        number = name[1:]
        one, other = f"s->{name}", f"g_{name}"
        if self.chance(0.5):
            one, other = other, one
        raw = self.pick(["s->raw", "g_raw"])
        size = f"MIN(sizeof({name}), 24)"
        target, _ = self.pick(self.writes)
        local = self.fresh("o")
        plain = [way for way, ctype in members if "i->" not in way and ctype != "float"]
        way = self.pick(plain) if plain else ""
        options = [
            f"{one} = {other};",
            f"{one} = via{number}({other}, {self.full(1)});",
            f"memcpy({raw}, &{one}, {size});",
            f"memcpy(&{one}, g_full, {size});",
            f"memset(&{one}, {self.pick(['0', '0x5A', '1', self.full(1)])}, {self.pick([f'sizeof({name})', '1'])});",
            f"if (memcmp({raw}, &table, 4) == 0) {self.assignment()}",
            f"{target} = ((unsigned char *)&{one})[({self.atom()}) & 3];",
            f"{{ u8 *{local} = (u8 *)&{one} + 1; {local} += {self.atom()} & 1; {target} = {local}[1] ^ {local}[-1]; }}",
            f"((u8 *)&g_{name})[{self.random.randrange(2)}] = {self.full(1)};"
            if self.chance(0.4)
            else self.assignment(),
        ]
        if way:
            options += [
                f"{{ {name} {local} = {{{way} = {self.full(1)}}}; {target} = {local}{way}; }}",
                f"{{ {name} {local} = {other}; {local}{way} ^= 1; {one} = {local}; }}",
                f"{{ {name} *{local} = ({self.full(1)}) ? &{one} : &{other}; {target} = {local}->{way[1:]}; }}",
                f"{{ {name} *{local} = ({self.full(1)}) ? &{one} : &{other}; {local}->{way[1:]} = {self.full(1)}; }}",
            ]
        return str(self.pick(options))
