# SPDX-License-Identifier: Apache-2.0
"""The Python packages of a plain installation, of the locked versions, as wheels for any Python and processor."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.supply.python_lock import read_lock

PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
"""Of what is downloaded: glibc 2.28 has been in every distribution since 2019."""
LIMIT_S = 300


def names(repository: Path) -> list[str]:
    """What Tare needs without its extras, and what that needs; by the metadata of what ``.venv`` has."""
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    waiting = [Requirement(line) for line in project["dependencies"]]
    wanted: set[str] = set()
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name not in wanted:
            wanted.add(name)
            below = map(Requirement, distribution(name).requires or ())
            waiting += [each for each in below if each.marker is None or each.marker.evaluate({"extra": ""})]
    return sorted(wanted)


def requirements(repository: Path) -> str:
    """Their locked versions and hashes, in pip's requirements file format."""
    lock = read_lock(repository, "run")
    lines = [f"{name}=={lock[name].version}" for name in names(repository)]
    hashes = [sorted(lock[name].hashes) for name in names(repository)]
    return "".join(
        " ".join([line, *(f"--hash={each}" for each in known)]) + "\n"
        for line, known in zip(lines, hashes, strict=True)
    )


def download(repository: Path, folder: Path, python: str, architecture: str) -> list[Path]:
    """Wheels for a version of Python, such as ``3.12``, and a processor; raises ``subprocess.SubprocessError``."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "requirements.txt"
    listed.write_text(requirements(repository))
    platforms = [word for each in PLATFORMS for word in ("--platform", f"{each}_{architecture}")]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
            *("--only-binary", ":all:", "--implementation", "cp", "--python-version", python, *platforms),
            *("--require-hashes", "--requirement", str(listed), "--dest", str(folder)),
        ],
        check=True,
        timeout=LIMIT_S,
    )
    return sorted(folder.glob("*.whl"))


def version(wheel: Path) -> tuple[str, str]:
    """Name and version in a wheel's file name."""
    name, release = re.split("-", wheel.name)[:2]
    return canonicalize_name(name), release
