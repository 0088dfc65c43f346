# SPDX-License-Identifier: Apache-2.0
"""Reading what a container engine is told, and an engine that only writes down what it is asked."""

import csv
from pathlib import Path

import pytest

NOTING = '#!/bin/sh\nprintf "%s\\n" "$*" >>{folder}/asked\n'


def mounts(argv: list[str]) -> list[dict[str, str]]:
    """As the engines read --mount: one line of CSV, each field KEY=VALUE."""
    values = [argv[at + 1] for at, word in enumerate(argv) if word == "--mount"]
    rows = [next(csv.reader([value])) for value in values]
    return [dict(field.partition("=")[::2] for field in row) for row in rows]


class StandIn:
    """A script in the engine's place."""

    def __init__(self, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._name = folder, name
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def does(self, script: str) -> None:
        """Note what it is asked, then run ``script``, in which {folder} is a folder of its own."""
        path = self._folder / self._name
        path.write_text((NOTING + script).replace("{folder}", str(self._folder)))
        path.chmod(0o755)

    def asked(self) -> list[str]:
        path = self._folder / "asked"
        return path.read_text().splitlines() if path.exists() else []
