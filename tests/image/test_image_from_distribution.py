# SPDX-License-Identifier: Apache-2.0
"""What would be run to install a distribution's packages into a folder; a stand-in records it."""

import os
import platform
from pathlib import Path

import pytest

from tare.errors import HostError, ImageError
from tare.image import from_distribution, list_images
from tare.image.from_distribution import TOOLS, build_distribution_image
from tests.image.stand_ins import quiet, write_program

STAND_IN = """#!/bin/sh
echo "$0" "$@" >"$RECORD"
for word; do case $word in --installroot=*) root=${word#*=} ;; */rootfs) root=$word ;; esac; done
mkdir -p "$root/etc" "$root/usr/bin" "$root/var/cache/packages"
echo tool >"$root/usr/bin/tool"
echo kept >"$root/var/cache/packages/kept"
"""


@pytest.fixture
def installed(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins of all tools in front of PATH; yields the file with the last one's words."""
    assert state.parent == tmp_path
    folder, programs = tmp_path / "tools", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    write_program(programs / "init", "static")
    record = tmp_path / "record"
    for tool in TOOLS.values():
        write_program(folder / tool.program, STAND_IN.replace("$RECORD", str(record)))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "x", "VERSION_ID": "42"})
    monkeypatch.setattr(from_distribution, "native_programs", lambda *_: programs)
    monkeypatch.setattr(from_distribution, "programs_key", lambda _: "one")
    return record


@pytest.mark.root
@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("dnf", "dnf --assumeyes --installroot={root} --releasever=42 --config=/etc/dnf/dnf.conf "),
        ("zypper", "zypper --non-interactive --installroot {root} install --no-recommends bash "),
        ("pacman", "pacstrap -c -G -M {root} bash "),
        ("apk", "apk add --root {root} --initdb --no-cache --keys-dir /etc/apk/keys "),
    ],
)
def test_the_distributions_tool_installs_into_the_image(
    way: str, words: str, installed: Path, state: Path
) -> None:
    image = build_distribution_image(way, quiet)
    said = installed.read_text().rpartition("/tools/")[2]
    assert said.startswith(words.format(root=state / "images/.new/rootfs"))
    assert said.split()[-1] == "util-linux"
    assert (image.name, image.manifest["source"]["kind"]) == ("default", "distribution")
    assert (image.root / "usr/bin/tool").is_file()
    assert (image.root / "opt/tare/bin/init").is_file()
    assert list((image.root / "var/cache").iterdir()) == []


@pytest.mark.root
def test_a_tool_that_fails_leaves_no_image(installed: Path, tmp_path: Path) -> None:
    write_program(tmp_path / "tools/dnf", "#!/bin/sh\necho 'no such repository'\nexit 1\n")
    with pytest.raises(ImageError, match=r"dnf failed with exit code 1.*\n.*no such repository"):
        build_distribution_image("dnf", quiet)
    assert not installed.exists()
    assert list_images() == []


@pytest.mark.root
def test_a_missing_tool_is_said_with_the_way_out(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not state.exists()
    monkeypatch.setattr("shutil.which", lambda name, **_: None if name == "dnf" else f"/usr/bin/{name}")
    with pytest.raises(HostError, match=r"dnf .*is not on this host.*--from host"):
        build_distribution_image("dnf", quiet)


@pytest.mark.usefixtures("state")
def test_an_ordinary_user_is_told_of_the_hosts_own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_distribution, "ordinary_user", lambda: True)
    with pytest.raises(HostError, match=r"only as root.*--from host"):
        build_distribution_image("apk", quiet)
