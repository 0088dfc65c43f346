# SPDX-License-Identifier: Apache-2.0
"""Licences of what is installed beside Tare: Python packages by their metadata, Go modules by their licence files.

``python -m scripts.supply.licences`` prints the tables of docs/licences.md.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from scripts.supply.finding import Finding
from scripts.supply.go_lock import MODULES, required
from scripts.supply.python_lock import read_lock

ALLOWED = {
    *(
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSD",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MPL-2.0",
        "PSF-2.0",
        "Public domain",
        "Unlicense",
    ),
    "Zlib",
}
"""Each lets Tare call it and be given on; none of these packages is changed."""
NAMES = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Classifier's words → SPDX identifier; PyPI's "BSD License" does not say which."""
TEXTS = (
    ("Apache License", "Apache-2.0"),
    ("Redistributions of source code must retain", "BSD"),
    ("Permission is hereby granted, free of charge", "MIT"),
    ("Mozilla Public License", "MPL-2.0"),
    ("free and unencumbered software released into the public domain", "Unlicense"),
)
"""Words of a licence's text → its name."""
LONGEST = 60


def check_licences(repository: Path) -> Finding:
    """All on the list of allowed ones."""
    python = {name: python_licence(name) for name in _installed(repository)}
    go = {name: go_licence(name, version) for name, version in _modules(repository)}
    faults = [
        f"{name}: {licence or 'no licence is named'}"
        for name, licence in python.items()
        if not _is_allowed(licence)
    ]
    faults += [f"{name}: {licence}" for name, licence in go.items() if licence and not _is_allowed(licence)]
    unseen = [name for name, licence in go.items() if licence is None]
    why = f"{len(unseen)} Go modules are not in Go's cache" if unseen else None
    counted = (
        f"{len(python)} Python packages, {len(go) - len(unseen)} Go modules, {len(ALLOWED)} allowed licences"
    )
    return Finding("licences", counted, faults, why)


def python_licence(name: str) -> str | None:
    """The SPDX expression of an installed package, else what its classifiers say; ``None``: neither does."""
    installed = distribution(name)
    if "License-Expression" in installed.metadata:
        return installed.metadata["License-Expression"]
    return next(_older_words(installed), None)


def _older_words(distribution: Distribution) -> Iterator[str]:
    for line in distribution.metadata.get_all("Classifier") or []:
        words = str(line).rpartition(" :: ")[2]
        if str(line).startswith("License ::") and words in NAMES:
            yield NAMES[words]
    text = distribution.metadata["License"].strip() if "License" in distribution.metadata else ""
    if text and len(text) < LONGEST:
        yield NAMES.get(text, text)


def go_licence(module: str, version: str) -> str | None:
    """By the module's own licence file; ``None`` when it is not in Go's cache."""
    escaped = re.sub("[A-Z]", lambda letter: f"!{letter[0].lower()}", module)
    folder = Path(_go_cache()) / f"{escaped}@{version}"
    for file in sorted(folder.glob("*")):
        if file.is_file() and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "UNLICENSE")):
            text = " ".join(file.read_text(errors="replace").split())
            return next((name for words, name in TEXTS if words in text), f"unknown text in {file.name}")
    return f"no licence file in {module}" if folder.is_dir() else None


def _go_cache() -> str:
    try:
        done = subprocess.run(
            ["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True, timeout=60, cwd="/"
        )
    except (OSError, subprocess.SubprocessError):
        return os.devnull
    return done.stdout.strip()


def _is_allowed(licence: str | None) -> bool:
    words = re.findall(r"[A-Za-z0-9.+-]+", licence or "")
    return bool(words) and all(word in ALLOWED for word in words if word not in {"AND", "OR"})


def _installed(repository: Path) -> list[str]:
    return [
        name
        for name, entry in read_lock(repository, "dev").items()
        if entry.requirement.marker is None or entry.requirement.marker.evaluate()
    ]


def _modules(repository: Path) -> list[tuple[str, str]]:
    return sorted({pair for module in MODULES for pair in required(repository, module)})


def tables(repository: Path) -> tuple[str, str]:
    """Python's and Go's, in Markdown."""
    run = read_lock(repository, "run")
    python = (
        (name, python_licence(name) or "?", "runs Tare" if name in run else "tests it")
        for name in _installed(repository)
    )
    go = ((name, go_licence(name, version) or "?") for name, version in _modules(repository))
    return _table(("Python package", "licence", "what for"), python), _table(("Go module", "licence"), go)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    print("\n".join(tables(Path.cwd())))
