# SPDX-License-Identifier: Apache-2.0
"""The same nodes as lean as they can be made: the system calls of the layer, the limits and the root, one by one.

No record of the node, no check, no error in words, and no program but the technology's own: what is left is what the
kernel and the technology take. ``bench.node_cost`` compares Tare with it.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tare.host import cgroups
from tare.host.mounts import MS_BIND, MS_RDONLY, mount, unmount
from tare.nodes.provider import TOOLS_DIRECTORY, NodeSpec

_DEVICES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "tty": (5, 0),
}
_CHARACTER_DEVICE = 0o020666
_MOUNTS = (
    "root/mnt/tare",
    "root/dev/shm",
    "root/dev/pts",
    "root/dev",
    "root/sys",
    "root/proc",
    "root",
    "layer",
)
"""In the order in which they go."""


@dataclass
class Lean:
    """How one technology is started and stopped by system calls."""

    technology: Callable[[str], list[str]]
    """The node's folder → the argv under which its first process starts."""
    system: bool = True
    """Whether /proc, /sys, /dev and the work directory are mounted for it."""
    own_groups: bool = False
    """Whether the technology makes the groups and goes into the background by itself."""
    ended_by: Callable[[str], list[str]] | None = None
    _first: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def up(self, spec: NodeSpec) -> None:
        folder = str(spec.directory)
        _layer(folder, spec)
        if self.system:
            _system(folder, spec)
        inside = [] if self.own_groups else _groups(spec)
        argv = [*inside, *self.technology(folder), *([] if self.own_groups else [f"{TOOLS_DIRECTORY}/init"])]
        started = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        assert started.stdout is not None
        if self.own_groups:
            started.wait(timeout=20)
        else:
            started.stdout.read(1)
        self._first[folder] = started

    def down(self, spec: NodeSpec) -> None:
        folder, groups = str(spec.directory), cgroups.own_group(spec.name).directories
        if self.ended_by is not None:
            subprocess.run(self.ended_by(folder), check=True, timeout=20, capture_output=True)
        else:
            _end(str(groups[0]))
        first = self._first.pop(folder)
        first.wait(timeout=20)
        assert first.stdout is not None
        first.stdout.close()
        for group in () if self.own_groups else groups:
            _gone(str(group))
        for point in _MOUNTS:
            unmount(spec.directory / point)
        shutil.rmtree(folder)


def _layer(folder: str, spec: NodeSpec) -> None:
    for name in ("", "/layer", "/root"):
        os.mkdir(folder + name)
    mount("lean", spec.directory / "layer", "tmpfs", data=f"size={spec.memory_byte},mode=755")
    for name in ("upper", "upper/mnt", "upper/mnt/tare", "overlay-work", "work"):
        os.mkdir(f"{folder}/layer/{name}")
    data = f"lowerdir={spec.image_root},upperdir={folder}/layer/upper,workdir={folder}/layer/overlay-work"
    mount("lean", spec.directory / "root", "overlay", data=data)


def _system(folder: str, spec: NodeSpec) -> None:
    root = spec.directory / "root"
    mount("proc", root / "proc", "proc")
    mount("sysfs", root / "sys", "sysfs", MS_RDONLY)
    mount("lean", root / "dev", "tmpfs", data="mode=755")
    for name, (major, minor) in _DEVICES.items():
        os.mknod(f"{folder}/root/dev/{name}", _CHARACTER_DEVICE, os.makedev(major, minor))
    for name in ("pts", "shm"):
        os.mkdir(f"{folder}/root/dev/{name}")
    mount("lean", root / "dev/pts", "devpts", data="newinstance,ptmxmode=666")
    mount("lean", root / "dev/shm", "tmpfs", data=f"size={spec.shm_byte},mode=1777")
    mount(f"{folder}/layer/work", root / "mnt/tare", "", MS_BIND)


def _groups(spec: NodeSpec) -> list[str]:
    """Make them with their limits, on a host with version 1; the argv prefix that enters them."""
    processors = cgroups.format_processors(spec.processors)
    with open("/sys/fs/cgroup/cpuset/cpuset.mems") as asked:
        memory_nodes = asked.read()
    settings = {
        "cpuset": {"cpuset.mems": memory_nodes, "cpuset.cpus": processors},
        "memory": {"memory.limit_in_bytes": str(spec.memory_byte)},
        "pids": {"pids.max": str(spec.bounds.processes or "max")},
    }
    own = cgroups.own_group(spec.name)
    for group in map(str, own.directories):
        os.mkdir(group)
        for name, value in settings.get(group.split("/")[4], {}).items():
            with open(f"{group}/{name}", "w") as setting:
                setting.write(value)
    return [f"{spec.image_root}{TOOLS_DIRECTORY}/join", *own.ways_in, "--"]


def _end(group: str) -> None:
    with open(f"{group}/cgroup.procs") as processes:
        for line in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(line), signal.SIGKILL)


def _gone(group: str) -> None:
    while True:
        with contextlib.suppress(OSError):
            os.rmdir(group)
            return


def _bubblewrap(folder: str) -> list[str]:
    return [
        *(
            "bwrap",
            "--bind",
            f"{folder}/root",
            "/",
            "--dev",
            "/dev",
            "--tmpfs",
            "/dev/shm",
            "--proc",
            "/proc",
        ),
        *("--ro-bind", "/sys", "/sys", "--bind", f"{folder}/layer/work", "/mnt/tare"),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--as-pid-1", "--clearenv"),
    ]


def _lxc(folder: str) -> list[str]:
    name = folder.rpartition("/")[2]
    lines = {
        "lxc.include": "/usr/share/lxc/config/common.conf",
        "lxc.uts.name": name,
        "lxc.rootfs.path": f"dir:{folder}/root",
        "lxc.init.cmd": f"{TOOLS_DIRECTORY}/init",
        "lxc.net.0.type": "empty",
        "lxc.autodev": "1",
        "lxc.mount.entry": f"{folder}/layer/work mnt/tare none bind 0 0",
    }
    os.makedirs(f"{folder}/lxc/{name}")
    with open(f"{folder}/lxc/{name}/config", "w") as configuration:
        configuration.writelines(f"{key} = {value}\n" for key, value in lines.items())
    return ["lxc-start", "-P", f"{folder}/lxc", "-n", name, "--daemon"]


def _lxc_stop(folder: str) -> list[str]:
    return ["lxc-stop", "-P", f"{folder}/lxc", "-n", folder.rpartition("/")[2], "--kill"]


def _charliecloud(folder: str) -> list[str]:
    return [
        "unshare",
        "--net",
        "--",
        "env",
        "USER=root",
        "ch-run",
        "-w",
        "-u",
        "0",
        "-g",
        "0",
        f"{folder}/root",
        "--",
    ]


LEAN: Mapping[str, Callable[[], Lean]] = {
    "native": lambda: Lean(lambda folder: ["chroot", f"{folder}/root"]),
    "bubblewrap": lambda: Lean(_bubblewrap, system=False),
    "charliecloud": lambda: Lean(_charliecloud),
    "lxc": lambda: Lean(_lxc, system=False, own_groups=True, ended_by=_lxc_stop),
}
"""Technology → its node; the others in ``bench.bare_nodes``."""
