# SPDX-License-Identifier: Apache-2.0
"""Run clang-tidy over native/: the sources of a folder are one text, so that it parses their headers once.

The text contains the sources and includes none of them, as clang's analyzer and some checks look only into the main
file. Names of two sources of a folder must therefore differ, also in anonymous namespaces, and a declaration counts as
used if any source of the folder uses its name. A text that has passed is checked again when it, a header or the
configuration has changed.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SOURCES = Path("native")
TEXTS = Path("build/lint")
CONFIGURED = TEXTS / "configured"
"""Where CMake says how each source is compiled; build/native compiles a library's sources as one."""


def commands() -> dict[Path, list[list[str]]]:
    """Source → its compiler options, the longest first: the widest of the instruction sets it is compiled for.

    Raises:
        SystemExit: CMake cannot tell, or no target compiles a source, so its options are unknown.

    """
    argv = ["cmake", "--fresh", "-S", str(SOURCES), "-B", str(CONFIGURED), "-G", "Ninja", "-DTARE_TESTS=OFF"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"lint: native/ cannot be configured; run make setup-test first\n{done.stderr}")
    options: dict[Path, list[list[str]]] = {source: [] for source in sorted(SOURCES.rglob("*.cpp"))}
    for entry in json.loads((CONFIGURED / "compile_commands.json").read_bytes()):
        words = shlex.split(entry["command"])[1:]
        source = Path(os.path.relpath(entry["file"]))
        if source in options and (own := words[: words.index("-o")]) not in options[source]:
            options[source].append(own)
    if left := [str(source) for source, known in options.items() if not known]:
        sys.exit(f"lint: no target of native/CMakeLists.txt compiles {', '.join(left)}")
    return {source: sorted(known, key=len, reverse=True) for source, known in options.items()}


def joined(sources: Sequence[Path]) -> list[tuple[str, str]]:
    """Give the place and text of each line of the sources, without includes of earlier sources."""
    lines: list[tuple[str, str]] = []
    included: set[str] = set()
    for source in sources:
        own: set[str] = set()
        for number, line in enumerate(source.read_text().splitlines(), 1):
            repeats = line in included and line not in own
            if line.startswith("#include"):
                own.add(line)
            lines.append((f"{source}:{number}", "" if repeats else line))
        included |= own
    return lines


def passes(text: Path, sources: Sequence[Path], options: list[str], common: bytes) -> bool:
    """Whether clang-tidy finds nothing in the sources; print what it finds, at its place in them."""
    places, lines = zip(*joined(sources), strict=True)
    text.write_text("\n".join([*lines, ""]))
    stamp = text.with_suffix(".passed")
    key = hashlib.sha256(common + text.read_bytes() + repr(options).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == key:
        return True
    argv = ["clang-tidy", "--quiet", str(text), "--", *options]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        stamp.write_text(key)
        return True
    said = re.sub(rf"\S*{re.escape(str(text))}:(\d+)", lambda match: places[int(match[1]) - 1], done.stdout)
    print(said + done.stderr, end="", flush=True)
    return False


def copy_configuration() -> bytes:
    """Copy each folder's .clang-tidy, as clang-tidy looks for it beside the text; give all that the texts share."""
    for file in SOURCES.rglob(".clang-tidy"):
        (TEXTS / file.relative_to(SOURCES)).write_bytes(file.read_bytes())
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    shared = [Path(".clang-tidy"), *sorted(SOURCES.rglob(".clang-tidy")), *sorted(SOURCES.rglob("*.hpp"))]
    return version + b"".join(path.read_bytes() for path in shared)


def tasks() -> Iterator[tuple[Path, list[Path], list[str]]]:
    """Text, sources and options: a folder in the widest instruction set; if its code differs in others, these too."""
    options = commands()
    for folder in {source.parent for source in options}:
        place = TEXTS / folder.relative_to(SOURCES)
        place.mkdir(parents=True, exist_ok=True)
        sources = [source for source in options if source.parent == folder]
        yield place / "joined.cpp", sources, max((options[source][0] for source in sources), key=len)
        differs = any("__AVX" in path.read_text() for path in folder.glob("*.[ch]pp"))
        for source in sources if differs else ():
            for number, narrower in enumerate(options[source][1:]):
                yield place / f"{source.stem}-{number}.cpp", [source], narrower


def main() -> None:
    left = sorted(tasks(), key=lambda task: -sum(source.stat().st_size for source in task[1]))
    common = copy_configuration()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        passed = [threads.submit(passes, *task, common) for task in left]
    sys.exit(not all(each.result() for each in passed))


if __name__ == "__main__":
    main()
