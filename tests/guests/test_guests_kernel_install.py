# SPDX-License-Identifier: Apache-2.0
"""Kernels for guests brought into the store; stand-ins take the place of Debian's package tools and of depmod(8)."""

import gzip
import json
import lzma
import os
from pathlib import Path

import pytest
from tests.guests.kernel_example import RELEASE, bzimage, elf
from tests.image.stand_ins import quiet, write_program

from tare.commands.image import run_kernel
from tare.errors import HostError, InputError, LockedError
from tare.guests import kernel_install, kernel_package
from tare.guests.kernel import stored_kernels
from tare.guests.kernel_install import install_kernel
from tare.guests.kernel_package import depended_image
from tare.image.store import bringing_kernel, building

SHOWN = (
    "Package: linux-image-amd64\nSource: linux-signed-amd64 (6.1.192+2)\nVersion: 6.1.192-2\n"
    "Depends: linux-image-6.1.0-56-amd64 (= 6.1.192-2)\nDescription-en: Linux for 64-bit PCs (meta-package)\n"
)
"""As apt-cache 2.6 shows it, without the lines that are of no use here."""
APT_CACHE = """#!/bin/sh
echo "$@" >>"{log}"
case "$*" in *Lists=*) cat "{shown}" ;; *) [ ! -e "{known}" ] || cat "{shown}" ;; esac
"""
APT_GET = """#!/bin/sh
echo "$@" >>"{log}"
[ ! -e "{offline}" ] || { echo "E: no route to the registry" >&2; exit 100; }
case "$*" in *download*) : >package.deb ;; esac
"""
DPKG_DEB = """#!/bin/sh
cp -r "{package}/." "$3"
"""
DEPMOD = """#!/bin/sh
cd "$2/lib/modules/$3" || exit 1
find . -name '*.ko*' | sed 's|^\\./||; s|$|:|' | sort >modules.dep
"""


class Host:
    """A Debian host whose tools are stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"
        self.known, self.offline = folder / "known", folder / "offline"
        (folder / "shown").write_text(SHOWN)
        (folder / "bin").mkdir()
        places = {"log": self.log, "known": self.known, "offline": self.offline}
        places |= {"shown": folder / "shown", "package": folder / "package"}
        for name, text in (
            ("apt-cache", APT_CACHE),
            ("apt-get", APT_GET),
            ("dpkg-deb", DPKG_DEB),
            ("depmod", DEPMOD),
        ):
            for word, place in places.items():
                text = text.replace(f"{{{word}}}", str(place))  # noqa: PLW2901 - each step goes on with the last
            write_program(folder / "bin" / name, text)
        self.known.touch()

    def fill_package(self, modules: str = "lib/modules") -> None:
        boot, drivers = self.folder / "package/boot", self.folder / "package" / modules / RELEASE / "kernel"
        boot.mkdir(parents=True)
        drivers.mkdir(parents=True)
        (boot / f"vmlinuz-{RELEASE}").write_bytes(bzimage(gzip.compress(elf()), unpacked_byte=len(elf())))
        (drivers / "virtio_blk.ko").write_bytes(b"a disk")
        (drivers / "e1000.ko.xz").write_bytes(lzma.compress(b"a card"))
        (drivers / "unasked.ko").write_bytes(b"unasked")
        (drivers.parent / "modules.builtin").write_text("kernel/lib/virtio.ko\n")

    def told(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def host(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    assert state.parent == tmp_path
    (tmp_path / "host").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'host/bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(kernel_install, "HOST_KERNELS", tmp_path / "boot")
    monkeypatch.setattr(kernel_package, "_NEEDED_BYTE", 0)
    made = Host(tmp_path / "host")
    made.fill_package()
    return made


@pytest.mark.parametrize("modules", ["lib/modules", "usr/lib/modules"])
def test_debians_kernel_is_kept_with_the_modules_that_guests_need(
    host: Host, state: Path, modules: str
) -> None:
    (host.folder / "package/lib").rename(host.folder / "package/old")
    (host.folder / "package" / modules).parent.mkdir(parents=True)
    (host.folder / "package/old/modules").rename(host.folder / "package" / modules)
    kernel = install_kernel(progress=quiet)
    assert (kernel.release, kernel.direct, kernel.image.read_bytes()) == (RELEASE, True, elf())
    assert kernel.modules == state / "kernels" / RELEASE / "modules"
    kept = {path.name: path.read_bytes() for path in kernel.modules.rglob("*.ko*")}
    assert kept == {"virtio_blk.ko": b"a disk", "e1000.ko": b"a card"}
    assert (kernel.modules / "modules.dep").read_text() == "kernel/e1000.ko:\nkernel/virtio_blk.ko:\n"
    assert (kernel.modules / "modules.builtin").read_text() == "kernel/lib/virtio.ko\n"
    assert [path.name for path in (state / "kernels").iterdir()] == [RELEASE]


def test_a_kernel_that_is_there_is_not_fetched_again(host: Host) -> None:
    first = install_kernel(progress=quiet)
    before = host.told()
    assert install_kernel(progress=quiet) == first
    assert host.told() == before
    assert install_kernel(progress=quiet, refresh=True) == first
    assert len(host.told()) == 2 * len(before)


def test_the_hosts_own_lists_of_packages_are_used_and_left_as_they_are(host: Host) -> None:
    install_kernel(progress=quiet)
    assert [line for line in host.told() if "update" in line or "Dir::" in line] == []
    assert f"--quiet download linux-image-{RELEASE}" in host.told()


def test_without_lists_of_packages_they_are_fetched_for_this_alone(host: Host, state: Path) -> None:
    host.known.unlink()
    install_kernel(progress=quiet)
    (update,) = [line for line in host.told() if line.endswith("update")]
    assert f"Dir::State::Lists={state}" in update
    assert f"Dir::Cache={state}" in update
    assert host.told()[-1].endswith(f"download linux-image-{RELEASE}")


def test_without_a_network_the_hosts_own_kernel_is_taken(host: Host, tmp_path: Path) -> None:
    host.offline.touch()
    own = tmp_path / "boot" / f"vmlinuz-{os.uname().release}"
    own.parent.mkdir()
    own.write_bytes(bzimage(b"packed somehow", unpacked_byte=1, release="6.6.1-own"))
    said: list[str] = []
    kernel = install_kernel(progress=said.append)
    assert (kernel.release, kernel.direct) == ("6.6.1-own", False)
    assert kernel.image.read_bytes() == own.read_bytes()
    assert any(str(own) in line for line in said)


def test_without_any_way_to_a_kernel_the_ways_are_said(host: Host, state: Path) -> None:
    host.offline.touch()
    with pytest.raises(HostError, match=r"(?s)no route to the registry.*tare image kernel --from VMLINUZ"):
        install_kernel(progress=quiet)
    assert list((state / "kernels").iterdir()) == []


def test_package_sources_without_debians_kernel_are_said(host: Host) -> None:
    (host.folder / "shown").write_text("Package: linux-image-amd64\nProvides: nothing\n")
    with pytest.raises(HostError, match="have no linux-image-amd64"):
        install_kernel(progress=quiet)


def test_a_package_that_holds_something_else_is_said(host: Host) -> None:
    (host.folder / "package/boot" / f"vmlinuz-{RELEASE}").unlink()
    with pytest.raises(HostError, match="does not hold a kernel"):
        install_kernel(progress=quiet)


def test_another_kind_of_processor_is_said(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.uname_result(("Linux", "host", "6.1", "#1", "aarch64"))
    monkeypatch.setattr(os, "uname", lambda: other)
    with pytest.raises(HostError, match=r"x86_64.*aarch64"):
        install_kernel(progress=quiet)
    assert host.told() == []


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A kernel of the user's, with modules beside it."""
    folder = tmp_path / "own"
    (folder / "modules/kernel").mkdir(parents=True)
    (folder / "modules/kernel/virtio_net.ko").write_bytes(b"a card")
    (folder / "modules/modules.dep").write_text("kernel/virtio_net.ko:\n")
    (folder / "vmlinux").write_bytes(elf(release="6.6.1-own"))
    return folder


@pytest.mark.usefixtures("host")
def test_a_kernel_of_the_users_is_kept_with_the_modules_beside_it_or_those_named(own: Path) -> None:
    kernel = install_kernel(progress=quiet, source=own / "vmlinux")
    assert (kernel.release, kernel.direct) == ("6.6.1-own", True)
    assert kernel.modules is not None
    assert (kernel.modules / "kernel/virtio_net.ko").read_bytes() == b"a card"
    (own / "modules").rename(own / "named")
    (own / "named/kernel/virtio_net.ko").write_bytes(b"another")
    again = install_kernel(progress=quiet, source=own / "vmlinux", modules=own / "named")
    assert (kernel.modules / "kernel/virtio_net.ko").read_bytes() == b"another"
    assert again == kernel
    assert [guest_kernel.release for guest_kernel in stored_kernels()] == ["6.6.1-own"]


@pytest.mark.usefixtures("host")
def test_a_kernel_without_modules_is_kept_alone(own: Path) -> None:
    (own / "modules").rename(own / "elsewhere")
    assert install_kernel(progress=quiet, source=own / "vmlinux").modules is None


@pytest.mark.usefixtures("host")
def test_what_cannot_be_a_guests_kernel_is_refused_and_leaves_nothing(own: Path, state: Path) -> None:
    (own / "script").write_text("#!/bin/sh\n")
    (own / "empty").mkdir()
    with pytest.raises(InputError, match="There is no kernel"):
        install_kernel(progress=quiet, source=own / "gone")
    with pytest.raises(InputError, match=r"script cannot be a guest's kernel: this file is no Linux kernel"):
        install_kernel(progress=quiet, source=own / "script")
    with pytest.raises(InputError, match=r"empty holds no modules\.dep"):
        install_kernel(progress=quiet, source=own / "vmlinux", modules=own / "empty")
    with pytest.raises(InputError, match="--modules goes with --from"):
        install_kernel(progress=quiet, modules=own / "modules")
    (own / "modules/kernel/virtio_net.ko").unlink()
    with pytest.raises(HostError, match=r"virtio_net\.ko cannot be read"):
        install_kernel(progress=quiet, source=own / "vmlinux")
    assert list((state / "kernels").iterdir()) == []


@pytest.mark.usefixtures("host")
def test_two_at_once_do_not_get_into_each_others_way(own: Path) -> None:
    with bringing_kernel(), pytest.raises(LockedError):
        install_kernel(progress=quiet, source=own / "vmlinux")


@pytest.mark.usefixtures("host")
def test_a_kernel_comes_while_an_image_is_built(own: Path) -> None:
    with building():
        assert install_kernel(progress=quiet, source=own / "vmlinux").release == "6.6.1-own"


@pytest.mark.usefixtures("host")
def test_the_command_says_what_there_is_now(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_kernel(own / "vmlinux", None, as_json=False) == 0
    assert capsys.readouterr().out == f"6.6.1-own  starts directly  from {own / 'vmlinux'}\n"
    assert run_kernel(None, None, as_json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert (document["kernel"]["release"], document["kernel"]["direct"]) == ("6.6.1-own", True)


def test_the_kernels_package_is_read_from_what_apt_shows() -> None:
    assert depended_image(SHOWN) == "linux-image-6.1.0-56-amd64"
    assert depended_image(SHOWN.replace("Depends: ", "Depends: other, ")) == "linux-image-6.1.0-56-amd64"
    assert depended_image("N: Unable to locate package linux-image-amd64\n") is None
    assert depended_image(SHOWN.replace("6.1.0-56-amd64", "cloud-amd64")) is None
