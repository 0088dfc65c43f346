# SPDX-License-Identifier: Apache-2.0
"""The steps of `make setup` with stand-ins that take no time: what waits for what, and what is done at all."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY

STEP = """#!/bin/bash
step="$(basename "$0") $*"
echo "begins $step" >>log
{meeting}
echo "ends $step" >>log
"""
MEETING = """
for _ in $(seq 500); do
    [ "$(grep -c '^begins .*\\(<packages>\\|image build\\|image kernel\\)' log)" -ge 3 ] && met=yes && break
    sleep 0.02
done
[ "$met" ] || exit 1
"""
PACKAGES = """#!/bin/bash
[ "$#" = 1 ] && name="<packages> $(tr '\\n' ' ' <"$1")" || name="<first> $*"
echo "begins $name" >>log
[ "$#" = 1 ] && {{ {meeting} }}
echo "ends $name" >>log
"""
SCRIPTS = ("make-venv", "build-native", "build-runsc", "build-govc", "build-apptainer")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The real Makefile and lists; each step writes when it begins and ends, and those beside the image wait for it."""
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ("packages.txt", "packages-test.txt"):
        (tmp_path / "scripts" / name).write_text(f"of-{name}\n")
    for path in (f"scripts/{name}" for name in SCRIPTS):
        write(tmp_path / path, STEP.format(meeting=""))
    shutil.copy(REPOSITORY / "scripts/say-native", tmp_path / "scripts")
    write(tmp_path / "scripts/install-packages", PACKAGES.format(meeting=MEETING))
    write(tmp_path / ".venv/bin/tare", STEP.format(meeting=MEETING))
    return tmp_path


def write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def made(checkout: Path, *arguments: str) -> list[str]:
    """The lines of the log."""
    subprocess.run(["make", *arguments], cwd=checkout, check=True, timeout=60, stdout=subprocess.DEVNULL)
    return (checkout / "log").read_text().splitlines()


def test_packages_image_and_kernel_are_made_at_the_same_time(checkout: Path) -> None:
    log = made(checkout, "setup")
    assert log[0] == "begins <first> scripts/packages-image.txt scripts/packages.txt"
    order = ("ends <first>", "begins make-venv", "ends make-venv", "begins tare image build")
    places = [next(i for i, line in enumerate(log) if line.startswith(start)) for start in order]
    assert places == sorted(places)


def test_each_step_is_done_once_and_nothing_is_compiled_for_the_host(checkout: Path) -> None:
    begun = sorted(line for line in made(checkout, "setup") if line.startswith("begins"))
    assert [line.split()[1] for line in begun] == ["<first>", "<packages>", "make-venv", "tare", "tare"]


def test_the_tests_set_up_compiles_for_the_host_once_and_installs_both_lists(checkout: Path) -> None:
    log = made(checkout, "setup-test")
    assert "begins <packages> of-packages.txt of-packages-test.txt " in log
    assert "begins make-venv dev" in log
    assert [line for line in log if line.startswith("begins build-native")] == ["begins build-native ON"]


def test_what_only_the_tests_need_is_made_beside_the_image_once_the_packages_are_there(
    checkout: Path,
) -> None:
    write(
        checkout / "scripts/build-native", STEP.format(meeting=MEETING.replace("image kernel", "build-runsc"))
    )
    write(
        checkout / "scripts/build-runsc", STEP.format(meeting=MEETING.replace("image kernel", "build-native"))
    )
    log = made(checkout, "setup-test")
    first = min(log.index("begins build-native ON"), log.index("begins build-runsc "))
    assert log.index("ends <packages> of-packages.txt of-packages-test.txt ") < first
    order = [line for line in log if line.split()[1] in {"build-runsc", "build-govc", "build-apptainer"}]
    assert [line.split()[0] for line in order] == ["begins", "ends"] * 3


def test_the_hosts_packages_are_left_alone_when_asked(checkout: Path) -> None:
    (checkout / "log").write_text("begins <packages>\n")  # nobody waits for them
    assert not [line for line in made(checkout, "setup", "PACKAGES=no")[1:] if "packages" in line]


def test_what_is_installed_first_is_in_the_whole_list_as_well() -> None:
    first, whole = (
        {line for line in (REPOSITORY / "scripts" / name).read_text().splitlines() if line[0] != "#"}
        for name in ("packages-image.txt", "packages.txt")
    )
    assert first < whole
    assert not {line.split()[0] for line in whole} & {"cmake", "g++", "ninja-build"}


def said_of_the_host(checkout: Path) -> str:
    script = checkout / "scripts/say-native"
    environment = {"PATH": str(checkout / "nothing-here")}
    run = subprocess.run(
        ["/bin/bash", script], cwd=checkout, env=environment, capture_output=True, text=True, check=True
    )
    return run.stderr


def test_set_up_says_what_is_not_compiled_for_the_host_with_the_package_that_it_lacks(checkout: Path) -> None:
    said = said_of_the_host(checkout)
    assert (
        "the NAS kernels and the MPI profiler are in the image, and not compiled for this host itself" in said
    )
    assert "apt-get install cmake g++ libopenmpi-dev ninja-build, then scripts/build-native" in said


def test_set_up_says_nothing_of_it_once_they_are_compiled(checkout: Path) -> None:
    (checkout / "build/native/bin").mkdir(parents=True)
    (checkout / "build/native/bin/libtareprof.so").touch()
    assert said_of_the_host(checkout) == ""
