# SPDX-License-Identifier: Apache-2.0
"""A mmdebstrap and a bwrap that take no time, so that a build's own steps are tested."""

from pathlib import Path

MMDEBSTRAP = """#!/bin/sh
for target; do :; done
echo "I: making $target"
echo run >>"$COUNT"
mkdir -p "$target/usr/bin" "$target/etc" "$target/dev" "$target/var/lib/dpkg"
echo of-the-host >"$target/etc/resolv.conf"
echo tool >"$target/usr/bin/tool"
printf 'Package: tool\\nVersion: 1\\nStatus: install ok installed\\n' >"$target/var/lib/dpkg/status"
"""
BWRAP = """#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = --bind ] && [ "$3" = /mnt/programs ] && programs=$2
    [ "$1" = --build ] && echo "$1" >>"$COMPILED"
    [ "$1" = --install ] && mkdir -p "$programs/bin" && echo program >"$programs/bin/init"
    shift
done
exit 0
"""


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def quiet(_: str) -> None:
    pass


def sources(tmp_path: Path, text: str = "1") -> Path:
    folder = tmp_path / "native"
    folder.mkdir(exist_ok=True)
    (folder / "CMakeLists.txt").write_text(text)
    return folder
