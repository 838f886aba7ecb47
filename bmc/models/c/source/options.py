"""A compiler's command line (gcc, clang): what it says of one file, and of the language of all files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from bmc.errors import InputRefused, Location
from bmc.models.c.source.compiler_macros import short_double_macros
from bmc.models.c.source.types import DATA_MODELS, Choices, DataModel
from bmc.records import dataclass
from bmc.system.original import SHORT_DOUBLE, FileOptions


@dataclass(frozen=True)
class Dialect:
    """What options say of the target and the language: ``target`` is '' where they leave that open.

    ``char_signed`` is None where plain char is that of the target. ``short_enums``: an enumeration takes the smallest
    type that holds it; ``wraps``: signed integers wrap around; ``pack``: the greatest alignment of members in bytes, 0
    for none; ``unsigned_fields``: bit-fields declared with neither ``signed`` nor ``unsigned`` are unsigned;
    ``aligned``: ``double`` and ``long long`` lie at multiples of their size in programs of 32 bits too; ``unaligned``:
    the target ``ip16`` is a machine that aligns nothing, as AVR is; ``short_double``: ``double`` is ``float``;
    ``long_double``: its bits, 0 for those of the target.
    """

    target: str = ""
    char_signed: bool | None = None
    short_enums: bool = False
    wraps: bool = False
    pack: int = 0
    unsigned_fields: bool = False
    aligned: bool = False
    unaligned: bool = False
    short_double: bool = False
    long_double: int = 0

    @property
    def words(self) -> list[str]:
        """The options that say it, but for the target."""
        said = {
            "-funsigned-char": self.char_signed is False,
            "-fsigned-char": self.char_signed is True,
            "-fshort-enums": self.short_enums,
            "-fwrapv": self.wraps,
            f"-fpack-struct={self.pack}": self.pack > 0,
            "-funsigned-bitfields": self.unsigned_fields,
            "-malign-double": self.aligned,
            SHORT_DOUBLE: self.short_double,
            "-mlong-double-64": self.long_double == 64,
        }
        return [word for word, holds in said.items() if holds]

    def model(self, target: str) -> DataModel:
        """The word sizes of ``target`` with all that; KeyError for a target that is not known."""
        model = DATA_MODELS[target]
        signed = model.choices.char_signed if self.char_signed is None else self.char_signed
        double = 32 if self.short_double else model.double
        bytewise = self.unaligned and target == "ip16"  # this machine's compiler, for which it is read too, aligns
        pack = 1 if bytewise else self.pack
        return replace(
            model,
            long_long_align=8 if self.aligned else 1 if bytewise else model.long_long_align,
            double=double,
            long_double=self.long_double or model.long_double,
            choices=Choices(signed, self.short_enums, self.wraps, self.unsigned_fields, pack),
        )


_STANDARDS = {
    **dict.fromkeys(("89", "90", "9899:1990", "9899:199409"), ""),
    **dict.fromkeys(("99", "9x", "9899:1999", "9899:199x"), "199901L"),
    **dict.fromkeys(("11", "1x", "9899:2011"), "201112L"),
    **dict.fromkeys(("17", "18", "9899:2017", "9899:2018"), "201710L"),
}
"""What ``__STDC_VERSION__`` is in each edition of C; '' where there is no such macro."""
_HARMLESS = re.compile(
    r"-c|-pipe|-v|-w|-S|-E|-P|-C|-s|-pedantic(-errors)?|-nostdlib|-nostartfiles|-nodefaultlibs|-static"
    r"|-O[0123sgz]?|-g.*|-W.*|-M(D|MD|M|P|G)?|-(MF|MT|MQ).+|-o.+|-l.*|-L.*|-p|-pg|-Q|-H|--param=.*|--?specs=.*|-save-temps.*"
    r"|--sysroot=.*|-T.+|-[fi](input|exec)-charset=(UTF|utf)-8"
    r"|-f(no-)?(PIC|pic|PIE|pie|common|function-sections|data-sections|stack-.*|omit-frame-pointer|strict-aliasing|inline.*"
    r"|diagnostics-.*|color-diagnostics|visibility.*|lto.*|fat-lto-objects|builtin.*|unwind-tables|asynchronous-unwind-tables"
    r"|exceptions|delete-null-pointer-checks|strict-volatile-bitfields|merge-constants|merge-all-constants|ident|jump-tables"
    r"|tree-.*|reorder-.*|align-.*|schedule-.*|gcse.*|ipa-.*|unroll-.*|toplevel-reorder|keep-.*|dump-.*|profile-.*|test-coverage"
    r"|plt|semantic-interposition|sanitize-.*|trapping-math|math-errno|threadsafe-statics|rtti|use-cxa-atexit|max-.*|message-.*"
    r"|macro-prefix-map=.*|debug-prefix-map=.*|file-prefix-map=.*|verbose-asm|zero-initialized-in-bss|section-anchors"
    r"|strict-overflow|caller-saves|guess-branch-probability|split-.*|web|rename-registers|cprop-registers|combine-stack-adjustments|cyclomatic-complexity|printf-return-value|analyzer"
    r"|optimize-sibling-calls|move-loop-invariants|ivopts|crossjumping|peephole2?|isolate-erroneous-paths-.*|conserve-stack|ira-.*"
    r"|sched-.*|rounding-math)"
    r"|-ffp-contract=off|-fno-short-enums|-fno-pack-struct|-fno-wrapv|-fno-fast-math"
    r"|-m(tune|thumb|arm|cpu|fpu|float-abi|abi|cmodel)(=.*)?|-mno-red-zone|-m(no-)?unaligned-access|-mmcu=.*"
    r"|-m(no-)?(thumb-interwork|long-calls|short-calls|relax|call-prologues|apcs-frame|sched-prolog|fix-cortex-m3-ldrd|slow-flash-data"
    r"|word-relocations|gas-isr-prologues|strict-align|save-restore|longcalls|text-section-literals)|-mlittle-endian"
    r"|-m(soft|hard)-float|-masm-syntax-unified"
)
"""Options without influence on what a program means as far as C says what it means, or of the target."""
_SEPARATE = frozenset({"-o", "-MF", "-MT", "-MQ", "-arch", "--param", "-target", "-T", "-u", "-Xlinker", "-isysroot"})
"""Those without influence whose value is a word of its own."""
_FOLDERS = ("-I", "-iquote", "-isystem", "-idirafter")


class Options:
    """Reads the words of one command line; paths in it are those from ``folder`` on.

    InputRefused for an option that changes what a program means and is not followed.
    """

    def __init__(self, words: Sequence[str], folder: str, where: Location | None) -> None:
        self.words, self.folder, self.where = list(words), folder, where
        self.include: list[str] = []
        self.behind: list[str] = []
        """Folders of headers that are searched after those of ``include``: of -isystem, then of -idirafter."""
        self.last: list[str] = []
        """Those of the compiler's own headers."""
        self.macros: list[tuple[str, str | None]] = []
        self.first: list[str] = []
        self.others: list[str] = []
        self.files: list[str] = []
        self.dialect = Dialect()
        while self.words:
            self._word(self.words.pop(0))

    @property
    def of_file(self) -> FileOptions:
        """What they say of the file alone."""
        folders = tuple(dict.fromkeys((*self.include, *self.behind)))
        return FileOptions(folders, tuple(self.macros), tuple(self.first), tuple(self.others), tuple(self.last))

    def _word(self, word: str) -> None:
        folders = next((option for option in _FOLDERS if word.startswith(option)), None)
        if folders is not None:
            value = self._path(self._value(word, folders))
            (self.include if folders in ("-I", "-iquote") else self.behind).append(value)
        elif word.startswith("-D"):
            name, given, value = self._value(word, "-D").partition("=")
            self.macros.append((name, value if given else "1"))
        elif word.startswith("-U"):
            self.macros.append((self._value(word, "-U"), None))
        elif word in ("-include", "-x"):
            value = self._value(word, word)
            if word == "-include":
                self.first.append(self._path(value))
            elif value not in ("c", "none"):
                self._refuse(f"-x {value}", "the language is not C")
        elif word.startswith(("-std=", "--std=")) or word == "-ansi":
            self._standard(word.replace("--std=", "-std="))
        elif self._says(word):
            self.others += [] if word in ("-m32", "-m64") else [word]  # the original is built for this machine
        elif word in _SEPARATE:
            self._value(word, word)
        elif not word.startswith("-"):
            self.files.append(self._path(word))
        elif not _HARMLESS.fullmatch(word):
            self._refuse(word, "it may change what the program means, and is not followed")

    def _says(self, word: str) -> bool:
        """Whether an option says something of the target or the language, which is noted."""
        pack = re.fullmatch(r"-fpack-struct(?:=(\d+))?", word)
        told = {
            "-funsigned-char": {"char_signed": False},
            "-fno-signed-char": {"char_signed": False},
            "-fsigned-char": {"char_signed": True},
            "-fno-unsigned-char": {"char_signed": True},
            "-fshort-enums": {"short_enums": True},
            "-fno-short-enums": {"short_enums": False},
            "-funsigned-bitfields": {"unsigned_fields": True},
            "-fno-signed-bitfields": {"unsigned_fields": True},
            "-fsigned-bitfields": {"unsigned_fields": False},
            "-fno-unsigned-bitfields": {"unsigned_fields": False},
            "-fwrapv": {"wraps": True},
            "-fno-wrapv": {"wraps": False},
            "-fno-pack-struct": {"pack": 0},
            "-malign-double": {"aligned": True},
            "-mno-align-double": {"aligned": False},
            SHORT_DOUBLE: {"short_double": True},
            "-mlong-double-64": {"long_double": 64},
            "-m32": {"target": "ilp32"},
            "-m64": {"target": "lp64"},
        }.get(word)
        if pack is not None:
            told = {"pack": int(pack[1] or 1)}
        if word in ("-ffreestanding", "-fhosted"):
            self.macros.append(("__STDC_HOSTED__", "0" if word == "-ffreestanding" else "1"))
            return True
        if told is None:
            return False
        self.macros += short_double_macros() if word == SHORT_DOUBLE else ()
        self.dialect = replace(self.dialect, **told)  # type: ignore[arg-type]
        return True

    def _standard(self, word: str) -> None:
        name = "c89" if word == "-ansi" else word.removeprefix("-std=")
        found = re.fullmatch(r"(gnu|c|iso)(.*)", name)
        version = _STANDARDS.get(found[2]) if found is not None else None
        if found is None or version is None:
            self._refuse(word, "this edition of C is not known")
        self.macros.append(("__STDC_VERSION__", version or None))
        if found is not None and found[1] != "gnu":
            self.macros += [("__STRICT_ANSI__", "1"), ("linux", None), ("unix", None)]
        if not version:
            self.macros += [("__GNUC_STDC_INLINE__", None), ("__GNUC_GNU_INLINE__", "1")]
        self.others.append(word)

    def _value(self, word: str, option: str) -> str:
        """The value of an option: the rest of the word, or the next one."""
        if word != option:
            return word[len(option) :]
        if not self.words:
            self._refuse(option, "its value is missing")
        return self.words.pop(0)

    def _path(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, path))

    def _refuse(self, word: str, why: str) -> None:
        text = f"the compiler's option {word}: {why}"
        raise InputRefused(text, self.where, "leave it out for ChainCover (sources.options), or build without it")
