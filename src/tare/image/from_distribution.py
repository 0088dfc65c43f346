# SPDX-License-Identifier: Apache-2.0
"""An image of the packages of this host's own distribution, by its own tool, which installs into a folder.

Signatures are checked as the host is set up to do it, and packages come from where it gets its own. Sources: dnf(8),
zypper(8), pacstrap(8), apk(8).
"""

import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.errors import HostError
from tare.host.distribution import distribution
from tare.host.paths import images_directory
from tare.host.privileges import ordinary_user
from tare.image import layout, recipe, rights
from tare.image.build import facts, refuse_imported
from tare.image.debian import PACKAGES_LIMIT_S, staging
from tare.image.native import native_programs, programs_key
from tare.image.store import DEFAULT_NAME, Image, building, install
from tare.image.tool import CAGE, Progress, require_space, require_tools, run_tool

KIND = "distribution"
"""Of the source, in a manifest."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What installs a distribution's packages into a folder."""

    program: str
    package: str
    """That has the program, by the distribution's name."""
    argv: Callable[[Path], Sequence[str]]
    """Installs into the folder; the packages follow."""
    packages: Sequence[str]


def _dnf(root: Path) -> Sequence[str]:
    """Paths in options are the host's, with DNF 4 as with DNF 5 (dnf5-installroot(7))."""
    release = platform.freedesktop_os_release().get("VERSION_ID", "")
    return [
        *("dnf", "--assumeyes", f"--installroot={root}", f"--releasever={release}"),
        *(
            "--config=/etc/dnf/dnf.conf",
            "--setopt=reposdir=/etc/yum.repos.d",
            "--setopt=varsdir=/etc/dnf/vars",
        ),
        *("--setopt=install_weak_deps=False", "--setopt=tsflags=nodocs", "install"),
    ]


def _zypper(root: Path) -> Sequence[str]:
    return ["zypper", "--non-interactive", "--installroot", str(root), "install", "--no-recommends"]


def _pacstrap(root: Path) -> Sequence[str]:
    return ["pacstrap", "-c", "-G", "-M", str(root)]


def _apk(root: Path) -> Sequence[str]:
    return [
        *("apk", "add", "--root", str(root), "--initdb", "--no-cache"),
        *("--keys-dir", "/etc/apk/keys", "--repositories-file", "/etc/apk/repositories"),
    ]


TOOLS: Mapping[str, Tool] = {
    "dnf": Tool(
        "dnf",
        "dnf",
        _dnf,
        (
            "bash",
            "coreutils",
            "glibc-minimal-langpack",
            "iproute",
            "iputils",
            "openmpi",
            "python3",
            "util-linux",
        ),
    ),
    "zypper": Tool(
        "zypper",
        "zypper",
        _zypper,
        ("bash", "coreutils", "glibc", "iproute2", "iputils", "openmpi4", "python3", "util-linux"),
    ),
    "pacman": Tool(
        "pacstrap",
        "arch-install-scripts",
        _pacstrap,
        ("bash", "coreutils", "glibc", "iproute2", "iputils", "openmpi", "python", "util-linux"),
    ),
    "apk": Tool(
        "apk",
        "apk-tools",
        _apk,
        ("alpine-baselayout", "busybox", "iproute2", "iputils", "openmpi", "python3", "util-linux"),
    ),
}
"""Way → its tool."""


def build_distribution_image(way: str, progress: Progress, name: str = DEFAULT_NAME) -> Image:
    """The image ``name`` of the packages that ``way``, of ``TOOLS``, installs; always anew.

    ``HostError`` without root or the tool, ``ImageError`` when the tool fails.
    """
    tool = TOOLS[way]
    if ordinary_user():
        raise HostError(
            f"{tool.program} installs into a folder only as root; as you are: tare image build --from host"
        )
    refuse_imported(name)
    _require(tool)
    require_space(images_directory(), recipe.NEEDED_BYTE)
    with building():
        programs = native_programs(recipe.native_source(), progress)
        with staging(images_directory()) as staged:
            root = staged / "rootfs"
            root.mkdir()
            root.chmod(0o755)
            progress(f"{tool.program} fetches {distribution()} packages")
            run_tool(
                [*CAGE, *tool.argv(root), *tool.packages],
                limit_s=PACKAGES_LIMIT_S,
                on_line=progress,
                variables=_variables(),
            )
            _finish(root, programs)
            keys = {"native": programs_key(recipe.native_source())}
            made = facts(root, {"kind": KIND, "path": f"{distribution()}, by {tool.program}"}, keys)
            return install(staged, name, made, progress)


def _require(tool: Tool) -> None:
    require_tools({"setpriv": "util-linux", "unshare": "util-linux"})
    if shutil.which(tool.program) is None:
        raise HostError(
            f"{tool.program} (package {tool.package}) is not on this host, which is {distribution()}; without it: "
            "tare image build --from host"
        )


def _finish(root: Path, programs: Path) -> None:
    rights.drop(root, rights.find(root).privileged)
    layout.strip_host(root)
    layout.add_mount_points(root)
    layout.add_tools(root, programs)


def _variables() -> dict[str, str]:
    """A fixed few, and what the network needs."""
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/root", "LC_ALL": "C.UTF-8"} | proxies
