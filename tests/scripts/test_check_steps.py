# SPDX-License-Identifier: Apache-2.0
"""What `make check` runs at the same time, with stand-ins that take no time: clang-tidy has what the tests leave."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY

SILENT = ("scripts/install-packages", "scripts/make-venv", "scripts/build-native", "scripts/build-runsc")
PASSING = (
    "scripts/build-govc",
    "scripts/build-apptainer",
    ".venv/bin/tare",
    ".venv/bin/ruff",
    ".venv/bin/mypy",
    ".venv/bin/pytest",
)
MEETING = """for _ in $(seq 500); do [ -e {other} ] && exit {code}; sleep 0.02; done; exit 9"""
"""Until the other is there as well: whoever comes alone fails."""
LINT = f"""touch linting; chrt --pid $$ >policy; cat /proc/self/autogroup >autogroup
echo "{{said}}"; {MEETING.format(other="testing", code="$(<lint-code)")}"""
TESTS = f"""touch testing; {MEETING.format(other="linting", code="$(<tests-code)")}"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real Makefile; clang-tidy and the tests wait for each other, and end as two files say."""
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    for folder in ("bin", "build", "native", "scripts", "tests/native", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (*SILENT, *PASSING, "bin/clang-format", "bin/ctest"):
        stand_in(tmp_path / name, ":")
    stand_in(tmp_path / ".venv/bin/python", LINT.format(said="native/fake/main.cpp:1: a fault"))
    stand_in(tmp_path / "scripts/with-dockerd", TESTS)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return tmp_path


def stand_in(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def checked(checkout: Path, *, lint: int, tests: int) -> subprocess.CompletedProcess[str]:
    (checkout / "lint-code").write_text(str(lint))
    (checkout / "tests-code").write_text(str(tests))
    return subprocess.run(
        ["make", "check", "PACKAGES=no"],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("lint", "tests"), [(0, 0), (1, 0), (0, 1)])
def test_the_check_passes_if_both_the_tests_and_clang_tidy_do(checkout: Path, lint: int, tests: int) -> None:
    done = checked(checkout, lint=lint, tests=tests)
    assert (done.returncode == 0) == (lint == tests == 0), done.stderr
    assert "native/fake/main.cpp:1: a fault" in done.stdout


def test_clang_tidy_takes_no_processor_from_the_tests(checkout: Path) -> None:
    """Where sessions share the processors as groups, idle priority counts within one alone."""
    checked(checkout, lint=0, tests=0)
    assert "SCHED_IDLE" in (checkout / "policy").read_text()
    own = Path("/proc/self/autogroup")
    if own.exists():
        group, _, nice = (checkout / "autogroup").read_text().partition(" ")
        assert group != own.read_text().partition(" ")[0]
        assert nice == "nice 19\n"
