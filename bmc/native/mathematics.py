"""What the C library of this machine yields for functions whose results depend on the library."""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from bmc.errors import NoOriginal
from bmc.floats.format import FLOAT32, FORMATS, canonical
from bmc.native import narrow
from bmc.native.build import compiler_words


class Library:
    """The functions of the C library; ``version`` says which one it is, and on which machine: results may differ
    between processors, too.

    ``word_sizes`` are those of the programs that call it, '' for this machine's. NoOriginal where there is none.
    """

    def __init__(self, word_sizes: str = "") -> None:
        loaded = _Narrow(word_sizes) if word_sizes else _Loaded()
        self.version = loaded.version
        self._function = cache(loaded.pattern)

    def value(self, function: str, arguments: Sequence[int], bits: int) -> int:
        """The pattern of what ``function`` yields for patterns of ``bits`` bits. All NaNs are one.

        Where ``double`` has the size of ``float``, that is what the function for ``float`` yields.
        """
        return canonical(self._function(function, bits, tuple(arguments)), FORMATS[bits])


class _Loaded:
    """The library of this machine, in this process."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("m")
        if name is None:
            raise NoOriginal("there is no C library here whose functions could be called")
        self._library = ctypes.CDLL(name)
        self._function = cache(self._found)
        self.version = library_version()

    def pattern(self, function: str, bits: int, arguments: tuple[int, ...]) -> int:
        numbers = (_number(pattern, bits) for pattern in arguments)
        return _pattern(self._function(function, bits, len(arguments))(*numbers), bits)

    def _found(self, function: str, bits: int, arity: int) -> Callable[..., float]:
        named = (getattr(self._library, name, None) for name in _names(function, bits))
        found = next((each for each in named if each is not None), None)
        if found is None:
            raise NoOriginal(f"the C library here has no function '{function}'")
        kind = _KINDS[bits]
        found.restype, found.argtypes = kind, [kind] * arity
        return found  # type: ignore[no-any-return]


class _Narrow:
    """The library for programs with other word sizes, in processes of their own."""

    def __init__(self, word_sizes: str) -> None:
        self._program = narrow.program((*compiler_words(), *narrow.OPTIONS[word_sizes]), "math_32.c")
        self.version = f"glibc {self._said()} for {word_sizes} on {platform.machine()}"

    def pattern(self, function: str, bits: int, arguments: tuple[int, ...]) -> int:
        for name in _names(function, bits):
            said = self._said(name, str(bits), *(f"{pattern:x}" for pattern in arguments))
            if said:
                return int(said, 16)
        raise NoOriginal(f"the C library for programs of 32 bits has no function '{function}'")

    def _said(self, *words: str) -> str:
        with tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as folder:
            program = Path(folder) / "math"
            program.write_bytes(self._program)
            program.chmod(0o700)
            done = subprocess.run([str(program), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
            return "" if done.returncode else done.stdout.decode()


def _names(function: str, bits: int) -> tuple[str, ...]:
    """The names by which the library may have ``function`` for numbers of ``bits`` bits, the right one first."""
    return (f"{function}f", function) if bits == FLOAT32.bits else (function,)


def library_version() -> str:
    """The name and the version of the C library of this machine, and the machine."""
    try:
        give = ctypes.CDLL(None).gnu_get_libc_version
        give.restype = ctypes.c_char_p
        name = f"glibc {give().decode()}"
    except (AttributeError, OSError):
        name = " ".join(part for part in platform.libc_ver() if part) or platform.system()
    return f"{name} on {platform.machine()}"


_KINDS: dict[int, type[ctypes.c_float] | type[ctypes.c_double]] = {FLOAT32.bits: ctypes.c_float, 64: ctypes.c_double}
_WORDS: dict[int, type[ctypes.c_uint32] | type[ctypes.c_uint64]] = {FLOAT32.bits: ctypes.c_uint32, 64: ctypes.c_uint64}


def _number(pattern: int, bits: int) -> float:
    return _KINDS[bits].from_buffer_copy(_WORDS[bits](pattern)).value


def _pattern(number: float, bits: int) -> int:
    return _WORDS[bits].from_buffer_copy(_KINDS[bits](number)).value
