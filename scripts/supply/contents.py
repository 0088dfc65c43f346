# SPDX-License-Identifier: Apache-2.0
"""The files of a .deb or .rpm: a plain installation of Tare's wheel, manual pages, and completions for shells.

Debian 12's own numpy and pydantic are too old, so that a package brings the locked ones in a virtual environment of its
own, /usr/lib/tare, and needs the distribution's Python alone. The wheels of one version for several Pythons differ only
by their extension modules, whose names say for which Python they are: one tree serves them all.
"""

import gzip
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from scripts.make_man import pages
from scripts.supply import plain

STAGE = Path("build/distribution")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
HOME, ABOUT = "usr/lib/tare", "usr/share/doc/tare"
"""Folders that are Tare's alone."""
MAY_DIFFER = ("*.dist-info/*", "numpy/__config__.py")
"""Files of one package that are not the same for each Python: only people read them."""
LIMIT_S = 60
LAUNCHER = """#!/bin/sh
# The distribution's Python is one of these, whichever of them it is.
for python in {pythons}; do
    [ -x "/{home}/bin/python$python" ] && exec "/{home}/bin/python$python" /{home}/bin/tare "$@"
done
echo 'tare: it needs Python {oldest} or newer in /usr/bin; install python{oldest} or a newer one.' >&2
exit 3
"""
PROGRAM = """# SPDX-License-Identifier: Apache-2.0
from tare.cli import main

main()
"""
COPYRIGHT = """Tare is under the Apache License 2.0; its text follows.

/usr/lib/tare/lib/packages also has, unchanged, other Python packages on their own terms, each of them stated in the
package's folder *.dist-info. The programs in tare/image/programs contain parts of the GNU C library (LGPL 2.1 or later)
and of GCC's libraries (GPL 3 with the runtime library exception); Tare's repository has their sources, from which they
can be linked again.

"""


@dataclass(frozen=True, slots=True)
class Contents:
    """What is packed for one processor."""

    root: Path
    architecture: str
    bundled: Mapping[str, str]
    """Name → version of the Python packages that come with it."""

    @property
    def size_byte(self) -> int:
        files = (path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
        return sum(path.stat().st_size for path in files)


def stage(wheel: Path, architecture: str) -> Contents:
    """The files of a package, as they will lie below /."""
    root = STAGE / architecture / "root"
    bundled: dict[str, str] = {}
    for python in PYTHONS:
        wheels = plain.download(Path.cwd(), STAGE / architecture / python, python, architecture)
        bundled |= dict(map(plain.version, wheels))
        merge([wheel, *wheels], root / HOME / "lib" / "packages")
    add_interpreters(root)
    add_words(root)
    return Contents(root, architecture, bundled)


def merge(wheels: list[Path], packages: Path) -> None:
    """Unpack ``wheels`` over what is there; ``SystemExit`` for another content than is there already."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                target = packages / entry.filename
                if entry.is_dir():
                    continue
                content = archive.read(entry)
                if not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
                elif target.read_bytes() != content and not _may_differ(entry.filename):
                    raise SystemExit(
                        f"packages: {entry.filename} of {wheel.name} differs from another Python's."
                    )


def _may_differ(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in MAY_DIFFER)


def add_interpreters(root: Path) -> None:
    """A virtual environment for each Python that may be there, all with the same packages, and the command."""
    home = root / HOME
    _write(home / "pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n")
    _write(home / "bin" / "tare", PROGRAM)
    for python in PYTHONS:
        (home / "bin" / f"python{python}").symlink_to(f"/usr/bin/python{python}")
        library = home / "lib" / f"python{python}"
        library.mkdir()
        (library / "site-packages").symlink_to("../packages")
    newest_first = " ".join(reversed(PYTHONS))
    _write(
        root / "usr/bin/tare", LAUNCHER.format(pythons=newest_first, home=HOME, oldest=PYTHONS[0]), mode=0o755
    )


def add_words(root: Path) -> None:
    """Manual pages, completions, and what a package says about itself."""
    for name, text in pages().items():
        page = root / "usr/share/man/man1" / f"{name}.gz"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_bytes(gzip.compress(text.encode(), mtime=0))
    for shell, places in completions().items():
        for place in places:
            _write(root / place, _completion(shell))
    _write(root / ABOUT / "copyright", COPYRIGHT + Path("LICENSE").read_text())


def completions() -> dict[str, tuple[str, ...]]:
    """Shell → where distributions look for what completes a command's words."""
    return {
        "bash": ("usr/share/bash-completion/completions/tare",),
        "zsh": ("usr/share/zsh/vendor-completions/_tare", "usr/share/zsh/site-functions/_tare"),
        "fish": ("usr/share/fish/vendor_completions.d/tare.fish",),
    }


def _completion(shell: str) -> str:
    argv = [sys.executable, "-m", "tare", "completion", shell]
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout


def _write(file: Path, text: str, mode: int = 0o644) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
