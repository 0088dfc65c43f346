# SPDX-License-Identifier: Apache-2.0
"""Technologies that Tare has not, as a campaign file would describe them."""

import json
from collections.abc import Mapping

from tare.host import cgroups
from tare.nodes.provider import TOOLS_DIRECTORY, WORK_DIRECTORY
from tare.records import OptionValue

INIT = f"{TOOLS_DIRECTORY}/init"
_NAMESPACES = ["--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd"]
_JOIN_NETWORK = ["nsenter", "--net={network_namespace}", "--"]
_LXC = ["-P", "{directory}", "-n", "{name}"]

CHROOT: Mapping[str, OptionValue] = {
    "foreground": True,
    "control_group": True,
    "system": True,
    "start": [*_JOIN_NETWORK, "chroot", "{root}", INIT],
    "enter": [*_JOIN_NETWORK, "chroot", "{root}"],
}
UNSHARE: Mapping[str, OptionValue] = {
    "probe": ["unshare", "--version"],
    "foreground": True,
    "control_group": True,
    "system": True,
    "start": [
        *_JOIN_NETWORK,
        *("unshare", "--fork", "--mount", "--pid", "--ipc", "--uts"),
        *("--root={root}", "--mount-proc", INIT),
    ],
    "enter": ["nsenter", "--target", "{init_pid}", *_NAMESPACES],
}
BUBBLEWRAP: Mapping[str, OptionValue] = {
    "probe": ["bwrap", "--version"],
    "foreground": True,
    "control_group": True,
    "start": [
        *_JOIN_NETWORK,
        *("bwrap", "--bind", "{root}", "/", "--dev", "/dev", "--size", "{shm_byte}", "--perms", "1777"),
        *("--tmpfs", "/dev/shm", "--proc", "/proc", "--ro-bind", "/sys", "/sys"),
        *("--bind", "{work}", WORK_DIRECTORY, "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--hostname", "{name}", "--as-pid-1", "--clearenv", "--cap-add", "ALL", INIT),
    ],
    "enter": ["nsenter", "--target", "{init_pid}", *_NAMESPACES],
}


def lxc() -> Mapping[str, OptionValue]:
    """One that starts a daemon and keeps control groups of its own."""
    version_1 = cgroups.find_hierarchies().version == cgroups.V1
    key, memory = ("lxc.cgroup", "memory.limit_in_bytes") if version_1 else ("lxc.cgroup2", "memory.max")
    settings = {
        "lxc.uts.name": "{name}",
        "lxc.rootfs.path": "dir:{root}",
        "lxc.namespace.share.net": "{network_namespace}",
        "lxc.mount.auto": "proc:mixed sys:ro",
        "lxc.autodev": "1",
        "lxc.mount.entry": "tmpfs dev/shm tmpfs nosuid,size={shm_byte},mode=1777,create=dir 0 0",
        "lxc.cgroup.dir.container": "tare/{name}/payload",
        "lxc.cgroup.dir.monitor": "tare/{name}/monitor",
        "lxc.cgroup.dir.monitor.pivot": "tare/{name}/pivot",
        f"{key}.cpuset.cpus": "{processors}",
        f"{key}.{memory}": "{memory_byte}",
    }
    return {
        "probe": ["lxc-start", "--version"],
        "start": [
            *("lxc-start", *_LXC, "--rcfile", "/dev/null"),
            *(f"--define={name}={value}" for name, value in settings.items()),
            *("--", INIT),
        ],
        "enter": ["lxc-attach", *_LXC, "--clear-env", "--"],
        "stop": ["lxc-stop", *_LXC, "--kill"],
        "init_pid": ["lxc-info", *_LXC, "--pid", "--no-humanize"],
        "is_running": ["lxc-wait", *_LXC, "--state", "RUNNING", "--timeout", "0"],
    }


def lxc_in_the_foreground() -> Mapping[str, OptionValue]:
    """The same without a daemon: its monitor is the command that stays."""
    options = lxc()
    start = options["start"]
    assert isinstance(start, list)
    console = ["--define=lxc.console.path=none"]  # its output is the command's own
    return {**options, "foreground": True, "start": [start[0], "--foreground", *console, *start[1:]]}


def as_words(options: Mapping[str, OptionValue]) -> list[str]:
    """As ``below_options`` of another environment."""
    return [f"{name}={json.dumps(value)}" for name, value in options.items()]
