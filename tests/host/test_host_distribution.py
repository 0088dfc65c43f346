# SPDX-License-Identifier: Apache-2.0
"""The advice names packages as the distribution at hand does."""

import ast
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest

import tare
from tare.host.distribution import to_install

SOURCES = Path(tare.__file__).parent


def on(monkeypatch: pytest.MonkeyPatch, **release: str) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release)


@pytest.mark.parametrize(
    ("release", "advice"),
    [
        ({"ID": "debian"}, "apt-get install uidmap g++"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "apt-get install uidmap g++"),
        ({"ID": "fedora"}, "dnf install shadow-utils gcc-c++"),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf install shadow-utils gcc-c++"),
        ({"ID": "opensuse-leap", "ID_LIKE": "suse opensuse"}, "zypper install shadow gcc-c++"),
        ({"ID": "manjaro", "ID_LIKE": "arch"}, "pacman -S shadow gcc"),
        ({"ID": "alpine"}, "apk add shadow-subids g++"),
        ({"ID": "plan9"}, "install uidmap g++ (Debian's names)"),
    ],
)
def test_the_command_and_the_names_are_the_distributions_own(
    release: dict[str, str], advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, **release)
    assert to_install("uidmap", "g++") == advice


def test_names_that_become_the_same_are_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, ID="arch")
    assert to_install("libvirt-clients", "libvirt-daemon") == "pacman -S libvirt"


def test_a_package_that_the_distribution_lacks_is_said_to_be_debians(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, ID="alpine")
    assert to_install("crun", "systemd-container") == (
        "apk add crun and install systemd-container (Debian's names, of which this distribution has no package)"
    )
    assert to_install("systemd-container").startswith("install systemd-container (Debian's")


def test_a_host_that_does_not_say_what_it_is_gets_debians_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> dict[str, str]:
        raise OSError("there is no os-release")

    monkeypatch.setattr(platform, "freedesktop_os_release", none)
    assert to_install("crun") == "install crun (Debian's names)"


def literals() -> Iterator[tuple[Path, str]]:
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield file, node.value


def test_no_other_file_advises_a_distributions_own_command() -> None:
    advisers = {file.name for file, text in literals() if "apt-get install" in text or "apt install" in text}
    assert advisers == {"distribution.py"}
