# SPDX-License-Identifier: Apache-2.0
"""What a program in a node gets hold of beyond the node: run in it, it prints a list in JSON (docs/security.md).

All is opened and closed again, nothing is written, and nothing of what it tries stays. It takes one argument in JSON:
the host's disk, its network namespace, a process of the host, a private file of the host, a key of the host's root.
"""

import ctypes
import errno
import glob
import json
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

MS_PRIVATE, MS_REC, CLONE_NEWNS, CLONE_NEWUSER = 1 << 18, 1 << 14, 0x20000, 0x10000000
FINIT_MODULE, REQUEST_KEY, UNSHARE = 313, 249, 272
"""The kernel's numbers for x86-64 (syscall_64.tbl)."""
ENGINES = (
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
)
LIBRARY = ctypes.CDLL(None, use_errno=True)


def opens(path: str, flags: int = os.O_WRONLY | os.O_APPEND) -> bool:
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY))
    except OSError:
        return False
    return True


def any_opens(*patterns: str, flags: int = os.O_WRONLY | os.O_APPEND) -> bool:
    return any(opens(path, flags) for pattern in patterns for path in glob.glob(pattern))


def in_child(*steps: Callable[[], bool]) -> bool:
    """Whether all succeed in a process of its own, which takes with it what they change."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if all(step() for step in steps) else 1)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def becomes_root_of_a_namespace() -> bool:
    """Of users, which most kernels give to everybody (user_namespaces(7))."""
    user, group = os.getuid(), os.getgid()
    if LIBRARY.syscall(UNSHARE, CLONE_NEWUSER):
        return False
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    return True


def mounts_hierarchy() -> bool:
    """A control group hierarchy of version 1, mounted where nobody else sees it."""
    if LIBRARY.syscall(UNSHARE, CLONE_NEWNS) or LIBRARY.mount(b"none", b"/", None, MS_PRIVATE | MS_REC, None):
        return False
    with tempfile.TemporaryDirectory() as folder:
        for controller in (b"pids", b"memory", b"freezer", b"rdma"):
            if LIBRARY.mount(b"none", folder.encode(), b"cgroup", 0, controller) == 0:
                value = opens(f"{folder}/release_agent")
                LIBRARY.umount(folder.encode())
                return value
    return False


def makes_device(device: int) -> bool:
    """A device node for the host's disk, which then opens."""
    with tempfile.TemporaryDirectory() as folder:
        os.mknod(f"{folder}/disk", stat.S_IFBLK | 0o600, device)
        return opens(f"{folder}/disk", os.O_RDONLY)


def loads_module() -> bool:
    """The kernel asks for the right before it looks at the file (init_module(2))."""
    with tempfile.TemporaryFile() as empty:
        LIBRARY.syscall(FINIT_MODULE, empty.fileno(), b"", 0)
        return ctypes.get_errno() not in {errno.EPERM, errno.ENOSYS, errno.EACCES}


def connects(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as result:
        return result.connect_ex(path) == 0


def listens_to_packets() -> bool:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW):
        return True


def signals(pid: int) -> bool:
    os.kill(pid, 0)
    return True


def is_the_hosts(pid: int, words: str) -> bool:
    """Whether the process of this number is the one of the host, and no other of a namespace's own."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode() == words
    except OSError:
        return False


def attempts(host: dict[str, Any]) -> Iterator[tuple[str, Callable[[], bool]]]:
    pid, seen = host["pid"], is_the_hosts(host["pid"], host["words"])
    yield "release_agent of a control group, as mounted", lambda: any_opens("/sys/fs/cgroup/*/release_agent")
    yield "release_agent of a control group, mounted anew", mounts_hierarchy
    yield "/proc/sys/kernel/core_pattern", lambda: opens("/proc/sys/kernel/core_pattern")
    yield (
        "/proc/sys/kernel/modprobe, hotplug",
        lambda: any_opens("/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug"),
    )
    yield "other settings in /proc/sys", lambda: any_opens("/proc/sys/vm/*", "/proc/sys/fs/*")
    yield "/proc/sysrq-trigger", lambda: opens("/proc/sysrq-trigger")
    yield (
        "settings in /sys",
        lambda: any_opens(
            "/sys/kernel/mm/transparent_hugepage/*", "/sys/kernel/uevent_helper", "/sys/block/*/queue/*"
        ),
    )
    yield "memory: /proc/kcore, /dev/mem", lambda: any_opens("/proc/kcore", "/dev/mem", flags=os.O_RDONLY)
    yield "the kernel's log", lambda: opens("/dev/kmsg")
    yield (
        "the host's disk, in /dev",
        lambda: any_opens("/dev/vd*", "/dev/sd*", "/dev/nvme*", "/dev/dm-*", flags=os.O_RDONLY),
    )
    yield "the host's disk, by a new device node", lambda: makes_device(host["disk"])
    yield "loading a kernel module", loads_module
    yield "seeing the host's processes", lambda: seen
    yield "signals to the host's processes", lambda: seen and signals(pid)
    yield "memory of the host's processes", lambda: seen and opens(f"/proc/{pid}/mem", os.O_RDWR)
    yield (
        "the host's files, through /proc/PID/root",
        lambda: seen and opens(f"/proc/{pid}/root{host['file']}", os.O_RDONLY),
    )
    yield "the host's network", lambda: os.readlink("/proc/self/ns/net") == host["network"]
    yield "every packet of the network", listens_to_packets
    yield (
        "keys of the host's root",
        lambda: LIBRARY.syscall(REQUEST_KEY, b"user", host["key"].encode(), 0, 0) > 0,
    )
    yield "sockets of container engines", lambda: any(connects(path) for path in ENGINES)


def main() -> None:
    collected = []
    for label, attempt in attempts(json.loads(sys.argv[1])):
        if in_child(attempt):
            collected.append(label)
        elif in_child(becomes_root_of_a_namespace, attempt):
            collected.append(f"{label}, from a user namespace of its own")
    print(json.dumps(collected))


main()
