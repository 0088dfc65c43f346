# SPDX-License-Identifier: Apache-2.0
"""The .deb and the .rpm of `make packages` are installed, used and removed: a minute or two, for `make test-packages`.

pytest collects this file only when it is named. Debian's packages of a small root file system are downloaded.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.supply.contents import HOME
from tests.conftest import REPOSITORY

from tare.image.tool import CAGE
from tare.nodes.provider import TOOLS_DIRECTORY

MADE = REPOSITORY / "build" / "dist"
LIMIT_S = 600
NATIVE = "amd64" if os.uname().machine == "x86_64" else "arm64"


def run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, f"{argv}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Debian with Python, and nothing of Tare."""
    root = tmp_path_factory.mktemp("debian") / "root"
    options = ("--mode=root", "--format=directory", "--variant=apt", "--skip=check/qemu", "--include=python3")
    run(*CAGE, "mmdebstrap", "--quiet", *options, "bookworm", str(root))
    yield root
    shutil.rmtree(root)


def inside(root: Path, *argv: str) -> str:
    return run(*CAGE[:-1], "--root", str(root), "--wd", "/", "--", *argv)


def as_user(root: Path, *argv: str) -> str:
    return inside(root, "setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", *argv)


def use(root: Path) -> None:
    """What a user does first: words, and an image, whose programs run there."""
    assert as_user(root, "tare", "--version").strip()
    assert "Weigh your own command" in as_user(root, "tare", "weigh", "--help")
    assert (root / "usr/share/man/man1/tare-weigh.1.gz").is_file()
    inside(root, "bash", "-n", "/usr/share/bash-completion/completions/tare")
    (root / "srv/own").mkdir(exist_ok=True)
    inside(root, "tare", "image", "import", "/srv/own", "--name", "own")
    programs = f"/var/lib/tare/images/own/rootfs{TOOLS_DIRECTORY}"
    assert inside(root, f"{programs}/burn", "1").startswith("burned 1 iterations")
    inside(root, "tare", "image", "rm", "own")


def leftovers(root: Path) -> list[Path]:
    named = (root / HOME, root / "usr/bin/tare", root / "usr/share/doc/tare")
    return [path for path in (*named, *(root / "usr/share/man/man1").glob("tare*")) if path.exists()]


def test_the_deb_is_installed_used_and_removed(debian: Path) -> None:
    [package] = MADE.glob(f"tare_*_{NATIVE}.deb")
    shutil.copy(package, debian)
    inside(debian, "dpkg", "--install", f"/{package.name}")
    assert list((debian / HOME).rglob("*.pyc"))
    use(debian)
    inside(debian, "dpkg", "--remove", "tare")
    assert leftovers(debian) == []


def test_the_rpm_is_installed_used_and_removed(debian: Path) -> None:
    """In the same root, which has no list of RPMs: what it depends on is read, not looked for."""
    [package] = MADE.glob(f"tare-*.{os.uname().machine}.rpm")
    assert "python3 >= 3.11" in run("rpm", "-qp", "--requires", str(package))
    run("rpm", "--root", str(debian), "--nodeps", "--install", str(package))
    use(debian)
    run("rpm", "--root", str(debian), "--erase", "tare")
    assert leftovers(debian) == []


@pytest.mark.parametrize(
    ("name", "emulator"), [("amd64", ()), ("arm64", ("qemu-aarch64", "-cpu", "cortex-a53"))]
)
def test_static_programs_of_either_processor_run(
    name: str, emulator: tuple[str, ...], tmp_path: Path
) -> None:
    [package] = MADE.glob(f"tare_*_{name}.deb")
    run("dpkg-deb", "--extract", str(package), str(tmp_path))
    folder = tmp_path / HOME / "lib/packages/tare/image/programs"
    programs = tmp_path / "programs"
    programs.mkdir()
    archive = f"{'x86_64' if name == 'amd64' else 'aarch64'}.tar.xz"
    run("tar", "--extract", "--file", str(folder / archive), "--directory", str(programs))
    assert run(*emulator, str(programs / "burn"), "1").startswith("burned 1 iterations")
    assert "kernel_release" in json.loads(run(*emulator, str(programs / "machine")))
