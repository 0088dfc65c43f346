# SPDX-License-Identifier: Apache-2.0
"""scripts/install-packages and scripts/make-venv with stand-ins for the programs that change the host."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
NOBODY = 65534
LOCKED = ("pyproject.toml", "requirements/run.txt", "requirements/dev.txt")


@pytest.fixture
def host() -> Iterator[Path]:
    """A folder that anyone may read, with bin/ for stand-ins: Debian, one package installed, none fetchable."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "bin").mkdir(mode=0o755)
        shutil.copytree(SCRIPTS, folder / "scripts")
        program(folder, "dpkg-query", "printf 'installed here-already\\nconfig-files half-removed\\n'")
        program(folder, "apt-get", f'echo "$*" >>{folder}/apt; echo E: no network; [ "$1" = update ]')
        program(folder, "df", "printf 'Avail\\n9999999\\n'")
        (folder / "os-release").write_text('ID=mint\nID_LIKE="ubuntu debian"\n')
        (folder / "list").write_text(
            "# a comment\nhere-already\n\nnot-here\nelsewhere  true\nhalf-removed  no-such-program\n"
        )
        yield folder


def program(folder: Path, name: str, text: str) -> None:
    (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / "bin" / name).chmod(0o755)


def run(folder: Path, script: str, *arguments: str, user: int | None = None) -> tuple[int, str]:
    variables = {
        "PATH": f"{folder}/bin:/usr/bin:/bin",
        "OS_RELEASE": str(folder / "os-release"),
        "POLICY_RC_D": str(folder / "policy-rc.d"),
    }
    done = subprocess.run(
        [str(folder / "scripts" / script), *arguments],
        env=variables,
        cwd=folder,
        user=user,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_nothing_is_done_when_all_is_there(host: Path) -> None:
    (host / "list").write_text("here-already\nelsewhere  true\n")
    assert run(host, "install-packages", "list") == (0, "")
    assert not (host / "apt").exists()
    assert not (host / "build").exists()


@pytest.mark.root
def test_a_failed_installation_names_packages_and_last_lines(host: Path) -> None:
    code, said = run(host, "install-packages", "list")
    assert code == 3
    assert "could not be installed: not-here half-removed" in said
    assert "E: no network" in said
    assert (host / "apt").read_text().endswith("--no-install-recommends --no-remove not-here half-removed\n")


@pytest.mark.root
def test_daemons_are_kept_from_starting_only_during_the_installation(host: Path) -> None:
    program(host, "apt-get", f"ls {host}/policy-rc.d /run/systemd/system >>{host}/seen 2>/dev/null; true")
    assert run(host, "install-packages", "list")[0] == 0
    assert (host / "seen").read_text() != ""
    assert not (host / "policy-rc.d").exists()


@pytest.mark.root
def test_without_root_the_command_to_give_is_said(host: Path) -> None:
    code, said = run(host, "install-packages", "list", user=NOBODY)
    assert code == 3
    assert "sudo apt-get install --no-install-recommends not-here half-removed" in said


@pytest.mark.root
def test_what_later_lists_miss_is_said_before_anything_begins(host: Path) -> None:
    (host / "first").write_text("here-already\n")
    code, said = run(host, "install-packages", "first", "list", user=NOBODY)
    assert code == 3
    assert "sudo apt-get install --no-install-recommends not-here half-removed\n" in said


@pytest.mark.root
def test_of_several_lists_the_first_is_installed(host: Path) -> None:
    (host / "first").write_text("needed-first\n")
    program(host, "apt-get", f'echo "$*" >>{host}/apt')
    assert run(host, "install-packages", "first", "list")[0] == 0
    assert (host / "apt").read_text().endswith("--no-remove needed-first\n")


@pytest.mark.root
def test_lists_of_packages_that_were_just_fetched_are_not_fetched_again(host: Path) -> None:
    program(host, "apt-get", f'echo "$*" >>{host}/apt')
    for _ in range(2):
        assert run(host, "install-packages", "list")[0] == 0
    assert (host / "apt").read_text().splitlines().count("update") == 1


@pytest.mark.root
def test_lists_of_packages_that_could_not_be_fetched_are_tried_again(host: Path) -> None:
    program(host, "apt-get", f'echo "$*" >>{host}/apt; [ "$1" != update ]')
    for _ in range(2):
        assert run(host, "install-packages", "list")[0] == 0
    assert (host / "apt").read_text().splitlines().count("update") == 2


@pytest.mark.root
def test_after_a_failed_installation_the_lists_of_packages_are_fetched_again(host: Path) -> None:
    for _ in range(2):
        assert run(host, "install-packages", "list")[0] == 3
    assert (host / "apt").read_text().splitlines().count("update") == 2


def test_another_distribution_is_told_what_to_provide(host: Path) -> None:
    (host / "os-release").write_text("ID=fedora\n")
    code, said = run(host, "install-packages", "list")
    assert code == 3
    assert "not-here half-removed" in said
    assert "PACKAGES=no" in said


@pytest.mark.root
def test_too_little_space_is_said_before_anything_is_fetched(host: Path) -> None:
    program(host, "df", "printf 'Avail\\n2097152\\n'")
    code, said = run(host, "install-packages", "list")
    assert code == 3
    assert "3 GiB are needed on / for packages and the image; 2048 MiB are free" in said
    assert not (host / "apt").exists()


@pytest.fixture
def venv(host: Path) -> Path:
    """A .venv whose stamp is of another lock, and whose pip cannot reach anything."""
    for name in LOCKED:
        (host / name).parent.mkdir(exist_ok=True)
        (host / name).write_text("# nothing\n")
    (host / ".venv" / "bin").mkdir(parents=True)
    for name, text in (("python", "exit 0"), ("pip", "echo no route to host; exit 1")):
        (host / ".venv" / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (host / ".venv" / "bin" / name).chmod(0o755)
    write_stamp(host, "of another", "run")
    return host


def write_stamp(host: Path, digest: str, extra: str) -> None:
    (host / ".venv" / "stamp").write_text(
        f"{host} {Path('/usr/bin/python3').resolve()}\n{digest}  -\n{extra}\n"
    )


def test_packages_that_cannot_be_fetched_are_said_with_pips_last_lines(venv: Path) -> None:
    code, said = run(venv, "make-venv")
    assert code == 3
    assert "no route to host" in said
    assert "Is there a network" in said


@pytest.mark.parametrize(
    ("made", "wanted", "fetches"), [("run", "", False), ("dev", "", False), ("run", "dev", True)]
)
def test_a_current_environment_is_left_alone(venv: Path, made: str, wanted: str, fetches: bool) -> None:
    write_stamp(
        venv, hashlib.sha256(b"".join((venv / name).read_bytes() for name in LOCKED)).hexdigest(), made
    )
    code, _ = run(venv, "make-venv", *([wanted] if wanted else []))
    assert code == (3 if fetches else 0)


@pytest.mark.parametrize("changed", LOCKED)
def test_a_changed_lock_is_installed_anew(venv: Path, changed: str) -> None:
    write_stamp(
        venv, hashlib.sha256(b"".join((venv / name).read_bytes() for name in LOCKED)).hexdigest(), "dev"
    )
    (venv / changed).write_text("# something\n")
    assert run(venv, "make-venv")[0] == 3


@pytest.fixture
def wheel(venv: Path) -> Path:
    """A package that can be installed from a folder, locked; Tare itself is not installed."""
    file = venv / "wheels" / "small-1.0-py3-none-any.whl"
    file.parent.mkdir()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("small.py", "")
        archive.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        archive.writestr(
            "small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("small-1.0.dist-info/RECORD", "")
    where = f"--no-index --find-links {file.parent} --target {venv}/installed --no-cache-dir"
    text = f'#!/bin/sh\ncase "$*" in *--editable*) exit 0;; esac\nexec {sys.executable} -m pip "$@" {where}\n'
    (venv / ".venv" / "bin" / "pip").write_text(text)
    lock(venv, "small==1.0", file)
    return file


def lock(venv: Path, requirement: str, file: Path) -> None:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    (venv / "requirements" / "run.txt").write_text(f"{requirement} --hash=sha256:{digest}\n")


def test_what_the_lock_names_is_installed(venv: Path, wheel: Path) -> None:
    assert run(venv, "make-venv")[0] == 0
    assert (venv / "installed" / "small.py").exists()
    assert wheel.exists()


def test_a_package_of_another_hash_than_the_locks_is_not_installed(venv: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("unwanted.py", "")
    code, said = run(venv, "make-venv")
    assert code == 3
    assert "DO NOT MATCH THE HASHES" in (venv / "build" / "make-venv.log").read_text()
    assert "the last lines of build/make-venv.log" in said
    assert not (venv / "installed").exists()


def test_a_package_without_a_hash_is_not_installed(venv: Path, wheel: Path) -> None:
    (venv / "requirements" / "run.txt").write_text(f"{wheel.name.split('-')[0]}==1.0\n")
    assert run(venv, "make-venv")[0] == 3
    assert not (venv / "installed").exists()
