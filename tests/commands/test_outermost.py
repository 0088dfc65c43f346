# SPDX-License-Identifier: Apache-2.0
"""A host that lacks a library of a Python package is told so; it is no fault of Tare's."""

import platform

import pytest

from tare.commands.outermost import ended
from tare.errors import ExitCode

GLIBC = "Original error was: libstdc++.so.6: cannot open shared object file: No such file or directory"
MUSL = "Error loading shared library libstdc++.so.6: No such file or directory (needed by /x/_core.so)"


@pytest.mark.parametrize("text", [GLIBC, MUSL])
def test_a_missing_library_is_named_with_its_package(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "alpine"})

    def command() -> int:
        raise ImportError(f"Importing the numpy C-extensions failed.\n{text}")

    assert ended(command) == ExitCode.CANNOT
    said = capsys.readouterr().err
    assert said.startswith("tare: libstdc++.so.6 is not on this host")
    assert said.endswith("apk add libstdc++\n")


@pytest.mark.usefixtures("state")
def test_another_import_error_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        raise ImportError("no module named x")

    assert ended(command) == ExitCode.CANNOT
    assert "a fault of Tare's own" in capsys.readouterr().err
