"""The harness in C with a CMakeLists.txt: a test of CTest for each line of its results, JUnit, coverage by gcovr."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from ctypes import c_int, c_long, c_longlong, c_short, c_void_p, sizeof

from bmc.errors import UsageError
from bmc.records import dataclass
from bmc.system.original import FileOptions, NativeInterface
from chaincover.exporters.harness_c import Harness, failing_lines, harness
from chaincover.exporters.harness_host import HOST, included
from chaincover.exporters.protocol import ExportedChain

SECONDS = 60
"""After so many seconds a run counts as failed; twice as many: a program that hangs is told later."""
LONGEST = 60
"""Characters of the name of a test."""


class CTest:
    """The format ``ctest``."""

    def files(self, chain: ExportedChain) -> Mapping[str, bytes]:
        """See ``ChainExporter``."""
        made = harness(chain)
        native = getattr(chain.subject.model, "native", None)
        assert isinstance(native, NativeInterface)
        files = made.files()
        return {**files, "CMakeLists.txt": "".join(_Lists(made, native, [*files]).text()).encode("utf-8")}

    def failing(self, chain: ExportedChain) -> Iterator[str]:
        """See ``TestExporter``."""
        return failing_lines(chain)


@dataclass(frozen=True)
class _Lists:
    """Writes the CMakeLists.txt of a harness with these ``names`` of files."""

    harness: Harness
    native: NativeInterface
    names: Sequence[str]

    def text(self) -> Iterator[str]:
        """All of it."""
        yield "# The chain of this folder as tests of CTest: cmake builds it, ctest runs it. Targets: junit, which\n"
        yield "# runs the tests and writes junit.xml, and coverage, which writes coverage.xml by gcovr.\n"
        yield "cmake_minimum_required(VERSION 3.21)\nproject(chain C)\nenable_testing()\n\n"
        yield f'set(PROGRAM {quoted(self._root())} CACHE PATH "The folder of the program that is tested")\n'
        yield "set(CMAKE_C_STANDARD 11)\nset(CMAKE_C_EXTENSIONS ON)\n\n"
        own = [name for name in self.names if name.endswith(".c")]
        others = [path for number, path in enumerate(self._sources()) if number not in included(self.harness)]
        yield "set(FILES\n" + "".join(f"  {each}\n" for each in (*own, *others)) + ")\n"
        yield "add_executable(chain ${FILES})\n"
        yield "add_executable(chain_coverage EXCLUDE_FROM_ALL ${FILES})\n"
        yield "target_compile_options(chain_coverage PRIVATE --coverage -O0)\n"
        yield "target_link_options(chain_coverage PRIVATE --coverage)\n"
        yield "foreach(target chain chain_coverage)\n"
        yield from self._options()
        yield "  target_link_libraries(${target} PRIVATE m)\nendforeach()\n"
        yield from self._of_files()
        yield from self._other_mains()
        yield "\n"
        yield from self._tests()
        yield TARGETS

    def _root(self) -> str:
        """The folder of the project."""
        first = self.harness.chain.subject.sources[0]
        path = os.path.abspath(first.path)
        return path.removesuffix(first.name).rstrip("/") if path.endswith(f"/{first.name}") else os.path.dirname(path)

    def _place(self, path: str) -> str:
        """A path as CMake has it: from the folder of the project where it lies there."""
        root, whole = self._root(), os.path.abspath(path)
        if any(character in whole for character in ";$\n\r"):
            raise UsageError(f"CMake cannot hold the path {whole!r}", hint="rename it, or export the chain as c")
        if whole == root:
            return '"${PROGRAM}"'
        if not whole.startswith(f"{root}/"):
            return quoted(whole)
        rest = whole.removeprefix(f"{root}/")
        return '"${PROGRAM}/' + rest.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def _sources(self) -> list[str]:
        return [self._place(source.path) for source in self.harness.chain.subject.sources]

    def _options(self) -> Iterator[str]:
        compilation = self.native.compilation
        folders = ['"${CMAKE_SOURCE_DIR}"', '"${PROGRAM}"', *map(self._place, compilation.include_dirs)]
        yield f"  target_include_directories(${{target}} PRIVATE {' '.join(dict.fromkeys(folders))})\n"
        if any(name.startswith("stand_ins/") for name in self.names):
            yield '  target_compile_options(${target} PRIVATE "SHELL:-idirafter \\"${CMAKE_SOURCE_DIR}/stand_ins\\"")\n'
        for name, value in compilation.defines:
            yield f"  target_compile_definitions(${{target}} PRIVATE {quoted(_text(f'{name}={value}'))})\n"
        if compilation.word_sizes == "ilp32":
            yield "  target_compile_options(${target} PRIVATE -m32)\n  target_link_options(${target} PRIVATE -m32)\n"
        elif not self.native.refusal and self._differs():
            yield "  # on these sizes of types the program takes the same steps, which was proved\n"
            yield "  target_compile_definitions(${target} PRIVATE CHAINCOVER_ANY_SIZES)\n"

    def _differs(self) -> bool:
        kinds = {"short": c_short, "int": c_int, "long": c_long, "long long": c_longlong, "void *": c_void_p}
        return any(self.harness.calling.sizes[name] != sizeof(kind) for name, kind in kinds.items())

    def _of_files(self) -> Iterator[str]:
        """The options of single files; those of a file that is included are of the one that includes it."""
        given = dict(self.native.compilation.options)
        first, *_ = inside = included(self.harness)
        for number, source in enumerate(self.harness.chain.subject.sources):
            words = list(self._words(given.get(source.path, FileOptions())))
            if words:
                ours = f"{HOST}.c" if number == first else f"{HOST}_{number}.c"
                name = ours if number in inside else self._sources()[number]
                yield f"set_property(SOURCE {name} PROPERTY COMPILE_OPTIONS {' '.join(words)})\n"

    def _other_mains(self) -> Iterator[str]:
        """The function ``main`` of a source file that is compiled by itself is not that of the harness."""
        for number, source in enumerate(self.harness.chain.subject.sources):
            if number not in included(self.harness) and re.search(r"\bmain\b", source.text):
                name = f"main=chaincover_program_main_{number}"
                yield f"set_property(SOURCE {self._sources()[number]} PROPERTY COMPILE_DEFINITIONS {name})\n"

    def _words(self, options: FileOptions) -> Iterator[str]:
        yield from (f'"-I"{self._place(folder)}'.replace('""', "") for folder in options.include)
        for name, value in options.macros:
            yield quoted(_text(f"-U{name}" if value is None else f"-D{name}={value}"))
        yield from (f'"SHELL:-include {self._place(path)[1:-1]}"' for path in options.first)
        yield from (quoted(_text(word)) for word in options.others)

    def _tests(self) -> Iterator[str]:
        yield "add_test(NAME 0.ends COMMAND chain)\n"
        yield _expected("0.ends", "# chaincover: done, ")
        for number, name in enumerate(self._lines(), 1):
            test = re.sub(r"[^A-Za-z0-9_.]+", "-", f"{number}.{name}")[:LONGEST].rstrip("-")
            yield f"add_test(NAME {test} COMMAND chain)\n"
            yield _expected(test, f"ok {number} - ")

    def _lines(self) -> Iterator[str]:
        """What each test of the harness is about."""
        yield "values"
        for each in self.harness.plan.judged:
            if each.goal_line:
                yield f"goal.{each.goal.name}"
            if each.requirement_line:
                yield f"requirement.{each.goal.name}"
        yield from (f"requirement.{each.goal.name}" for each in self.harness.plan.failing)


TARGETS = """
add_custom_target(junit
  COMMAND ${CMAKE_CTEST_COMMAND} --output-junit "${CMAKE_BINARY_DIR}/junit.xml"
  DEPENDS chain VERBATIM)

find_program(GCOVR gcovr)
if(GCOVR)
  add_custom_target(coverage
    COMMAND ${CMAKE_COMMAND} -E rm -f coverage.xml
    COMMAND chain_coverage > coverage.tap || ${CMAKE_COMMAND} -E echo "a test failed: see coverage.tap"
    COMMAND ${GCOVR} --root "${PROGRAM}" --filter "${PROGRAM}/" --exclude "${CMAKE_SOURCE_DIR}/" --txt-metric branch
            --txt - --cobertura coverage.xml "${CMAKE_BINARY_DIR}"
    DEPENDS chain_coverage WORKING_DIRECTORY "${CMAKE_BINARY_DIR}" VERBATIM)
else()
  add_custom_target(coverage
    COMMAND ${CMAKE_COMMAND} -E echo "gcovr is not installed: pip install gcovr, and run cmake again"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()
"""


def _expected(test: str, line: str) -> str:
    """That ``test`` passes if its output has a line that begins so."""
    return f'set_tests_properties({test} PROPERTIES TIMEOUT {SECONDS} PASS_REGULAR_EXPRESSION "(^|\\n){line}")\n'


def _text(word: str) -> str:
    if any(character in word for character in ";\n\r") or "$<" in word:
        raise UsageError(f"CMake cannot hold {word!r}", hint="define it in a header, or export the chain as c")
    return word


def quoted(text: str) -> str:
    """``text`` as an argument of CMake in which nothing is replaced."""
    number = 1
    while f"]{'=' * number}]" in text:
        number += 1
    return f"[{'=' * number}[{text}]{'=' * number}]"
