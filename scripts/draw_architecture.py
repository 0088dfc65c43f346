# SPDX-License-Identifier: Apache-2.0
"""Draws which part of Tare imports which, as ARCHITECTURE.md shows it.

    python -m scripts.draw_architecture [FOLDER]        (src/tare)

Prints a Mermaid flowchart: a box for each package and for each module directly below the folder, with its files and
lines, and an arrow to what it imports. An arrow that a longer way already implies is left out.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

OWN = Path(__file__).resolve().parents[1] / "src" / "tare"


class Part(NamedTuple):
    """A package, or a module directly below the folder."""

    files: int
    lines: int
    imports: frozenset[str]
    """Other parts."""


def parts(source: Path) -> dict[str, Part]:
    """Name → part, by name; what is started (``__init__``, ``__main__``) is no part."""
    paths: dict[str, list[Path]] = {}
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).parts[0].removesuffix(".py")
        if not name.startswith("__"):
            paths.setdefault(name, []).append(path)
    return {name: _part(name, own, frozenset(paths)) for name, own in paths.items()}


def _part(name: str, own: list[Path], names: frozenset[str]) -> Part:
    texts = [path.read_text() for path in own]
    imports = {target for text in texts for target in imported(text)} - {name}
    return Part(len(own), sum(text.count("\n") for text in texts), frozenset(imports & names))


def imported(text: str) -> Iterator[str]:
    """The parts of Tare that a source text imports, anywhere in it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in modules if name.startswith("tare."))


def arrows(graph: Mapping[str, frozenset[str]]) -> dict[str, set[str]]:
    """The transitive reduction: an arrow to what no other arrow's end reaches; raises ``CycleError`` on a circle."""
    reached: dict[str, set[str]] = {}
    kept: dict[str, set[str]] = {}
    for name in TopologicalSorter(graph).static_order():
        further = {end for target in graph[name] for end in reached[target]}
        kept[name] = set(graph[name]) - further
        reached[name] = further | graph[name]
    return kept


def drawing(source: Path) -> str:
    """The flowchart."""
    known = parts(source)
    kept = arrows({name: part.imports for name, part in known.items()})
    boxes = [
        f'    {name}["{name}<br/>{part.files} files, {part.lines} lines"]' for name, part in known.items()
    ]
    lines = [f"    {name} --> {target}" for name in known for target in sorted(kept[name])]
    return "\n".join(["flowchart TB", *boxes, *lines])


if __name__ == "__main__":
    print(drawing(Path(sys.argv[1]) if len(sys.argv) > 1 else OWN))
