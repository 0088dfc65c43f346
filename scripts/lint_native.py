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
from pathlib import Path

SOURCES = Path("native")
TEXTS = Path("build/lint")
COMMANDS = Path("build/native/compile_commands.json")


def commands() -> dict[Path, list[str]]:
    """Folder → compiler options of its sources: the longest of them, so those with the widest instructions.

    Raises:
        SystemExit: native/ was never built here, or no target compiles a source, so its options are unknown.

    """
    if not COMMANDS.exists():
        sys.exit("lint: native/ is not built here; run make setup-test first")
    widest: dict[Path, list[str]] = {}
    left = set(SOURCES.rglob("*.cpp"))
    for entry in json.loads(COMMANDS.read_bytes()):
        source = Path(os.path.relpath(entry["file"]))
        if source.is_relative_to(SOURCES):
            left.discard(source)
            words = shlex.split(entry["command"])[1:]
            options = words[: words.index("-o")]
            widest[source.parent] = max(widest.get(source.parent, []), options, key=len)
    if left:
        sys.exit(f"lint: no target of native/CMakeLists.txt compiles {', '.join(map(str, sorted(left)))}")
    return widest


def joined(folder: Path) -> list[tuple[str, str]]:
    """Give the place and text of each line of the folder's sources, without includes of earlier sources."""
    lines: list[tuple[str, str]] = []
    included: set[str] = set()
    for source in sorted(folder.glob("*.cpp")):
        own: set[str] = set()
        for number, line in enumerate(source.read_text().splitlines(), 1):
            repeats = line in included and line not in own
            if line.startswith("#include"):
                own.add(line)
            lines.append((f"{source}:{number}", "" if repeats else line))
        included |= own
    return lines


def passes(folder: Path, options: list[str], common: bytes) -> bool:
    """Whether clang-tidy finds nothing; print what it finds, at its place in the sources."""
    text = TEXTS / folder.relative_to(SOURCES) / "joined.cpp"
    places, lines = zip(*joined(folder), strict=True)
    text.write_text("\n".join([*lines, ""]))
    stamp = text.with_suffix(".passed")
    key = hashlib.sha256(common + text.read_bytes() + repr(options).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == key:
        return True
    argv = ["clang-tidy", "--quiet", text, "--", *options]
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
    shared = [Path(".clang-tidy"), *sorted(SOURCES.rglob(".clang-tidy")), *sorted(SOURCES.rglob("*.hpp"))]
    return b"".join(path.read_bytes() for path in shared)


def main() -> None:
    options = commands()
    for folder in options:
        (TEXTS / folder.relative_to(SOURCES)).mkdir(parents=True, exist_ok=True)
    common = copy_configuration()
    largest_first = sorted(
        options, key=lambda folder: -sum(path.stat().st_size for path in folder.glob("*.cpp"))
    )
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        passed = list(threads.map(lambda folder: passes(folder, options[folder], common), largest_first))
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
