# SPDX-License-Identifier: Apache-2.0
"""Runs in a fresh process: enters new namespaces, mounts the node there, and becomes the node's first process.

The mounts live as long as any process of the node: the kernel removes them with the last one.
"""

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tare.errors import NodeError
from tare.host import mounts, process
from tare.host.user_namespaces import FUSE_OVERLAYFS, OVERLAYFS
from tare.nodes import host_root, layer
from tare.nodes.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, NodeSpec
from tare.nodes.root_mounts import open_folders
from tare.nodes.unprivileged.limits import hold_self
from tare.nodes.unprivileged.start_order import KEEPER_FILE, MAKER_FILE, TECHNOLOGY_FILE, StartOrder
from tare.records import Storage

_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
_WRITTEN_FILES = ("etc/hostname", "etc/hosts", "etc/machine-id", "etc/resolv.conf")
_DEEP = ("var",)
"""Folders at the image's top whose own folders programs also write to."""


def become(order: StartOrder, spec: NodeSpec) -> None:
    """Make the node and execute the argv. The working directory, by which the runner finds it, becomes the node's."""
    _enter_namespaces(own_network=order.own_network)
    _mount(order, spec)
    if order.in_image:
        os.chroot(spec.directory / "root")
        os.chdir(WORK_DIRECTORY)
    else:
        os.chdir(spec.work)
        _leave_keeper(spec)
    hold_self(spec.processors, order.data_limit_byte)
    os.execvp(order.argv[0], order.argv)  # noqa: S606 - an argv list without a shell is intended


def _enter_namespaces(*, own_network: bool) -> None:
    """This user becomes root, and the only user there is (user_namespaces(7))."""
    user, group = os.geteuid(), os.getegid()
    flags = _CLONE_NEWUSER | _CLONE_NEWNS | (_CLONE_NEWNET if own_network else 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise NodeError(f"cannot make a user namespace: {reason}; `tare doctor` says what this host lacks")
    maps = {"setgroups": "deny", "uid_map": f"0 {user} 1", "gid_map": f"0 {group} 1"}
    for name, text in maps.items():
        Path("/proc/self", name).write_text(text)
    if own_network:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            fcntl.ioctl(asked, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def _mount(order: StartOrder, spec: NodeSpec) -> None:
    make_layer(spec)
    (spec.directory / MAKER_FILE).write_text(_mount_host(spec) if order.of_host else mount_root(spec))
    if order.system:
        mount_system(spec, own_network=order.own_network)
    if order.again is not None:
        mount_again(spec, order.again)


def _leave_keeper(spec: NodeSpec) -> None:
    """Continue as a child. The parent, which the runner knows, stays in these namespaces as an idle init."""
    keeper = os.getpid()
    if os.fork() == 0:
        (spec.directory / KEEPER_FILE).write_text(str(keeper))
        (spec.directory / TECHNOLOGY_FILE).write_text(str(os.getpid()))
        return
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.stdout.fileno())  # only the node's own init says READY
    program = f"{spec.image_root}{TOOLS_DIRECTORY}/init"
    os.execv(program, [program])  # noqa: S606 - as above


def main() -> int:
    """``first_process ORDER`` as ``StartOrder.command`` writes it; returns only on failure."""
    try:
        become(*StartOrder.read(sys.argv[1]))
    except (NodeError, OSError) as error:
        sys.stderr.write(f"{error}\n")
    return 1


def make_layer(spec: NodeSpec) -> None:
    """Mount the layer's own file system, if in memory; make in it the work directory and the bound directories."""
    folder = spec.directory / "layer"
    if spec.storage is Storage.TMPFS:
        mounts.mount(spec.name, folder, "tmpfs", layer.POWERLESS, f"size={spec.memory_byte},mode=700")
    for name in ("upper", "overlay-work", "home"):
        (folder / name).mkdir()
    spec.work.mkdir(exist_ok=True)
    for source, bound in layer.bound_sources(spec):
        source.mkdir(parents=True)
        mounts.bind(bound.path, source, writable=bound.writable)


def mount_root(spec: NodeSpec) -> str:
    """Mount the image under the layer, at ``directory / "root"``; return what did it: overlayfs or fuse-overlayfs."""
    folder, root = spec.directory / "layer", spec.directory / "root"
    _make_writable(spec.image_root, folder / "upper")
    for point in [WORK_DIRECTORY, *(str(bound.path) for bound in spec.binds)]:
        layer.make_point(spec.image_root, folder / "upper", Path(point.lstrip("/")))
    maker = _mount_overlay(spec, layer.overlay_options(spec), root)
    if (home := layer.own_home(spec)) is not None:
        mounts.mount(str(home), root / "root", "", mounts.MS_BIND)
    return maker


def _mount_host(spec: NodeSpec) -> str:
    host_root.mount(spec, spec.directory / "root", ",userxattr")
    if (home := layer.own_home(replace(spec, image_root=Path("/")))) is not None:
        mounts.mount(str(home), spec.directory / "root" / "root", "", mounts.MS_BIND)
    return OVERLAYFS


def _mount_overlay(spec: NodeSpec, options: str, root: Path) -> str:
    """Use ``userxattr``: an ordinary user may not set the other attributes of overlayfs (Linux 5.11)."""
    try:
        mounts.mount(spec.name, root, "overlay", layer.POWERLESS, f"{options},userxattr")
    except NodeError:
        if shutil.which(FUSE_OVERLAYFS) is None:
            raise
        process.run_checked([FUSE_OVERLAYFS, "-o", f"{options},nosuid,nodev,fsname={spec.name}", str(root)])
        return FUSE_OVERLAYFS
    return OVERLAYFS


def _make_writable(image_root: Path, upper: Path) -> None:
    """Give the folders and files that programs commonly write a counterpart in the layer, owned by the node's root.

    The image usually belongs to a user whom the namespace does not know: nobody in the node may write that user's
    files, and the kernel does not copy them up.
    """
    for folder in _written_folders(image_root):
        (upper / folder).mkdir()
        with suppress(OSError):
            shutil.copymode(image_root / folder, upper / folder)
    for name in _WRITTEN_FILES:
        with suppress(OSError):
            if not (image_root / name).is_symlink():
                shutil.copy(image_root / name, upper / name)


def _written_folders(image_root: Path) -> Iterator[Path]:
    """The top of the image and one level below some folders, parents first; neither links nor what cannot be read."""
    for name in sorted(os.listdir(image_root)):  # noqa: PTH208 - names are wanted
        if _is_folder(image_root / name):
            yield Path(name)
            with suppress(PermissionError):
                below = sorted(os.listdir(image_root / name)) if name in _DEEP else []  # noqa: PTH208 - the same
                yield from (Path(name, part) for part in below if _is_folder(image_root / name / part))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def mount_system(spec: NodeSpec, *, own_network: bool) -> None:
    """Mount /proc and /sys, a separate /dev and /dev/shm, the work directory and the bound directories.

    Nobody in the node can write what the host's root owns in /proc and /sys.
    """
    root = spec.directory / "root"
    mounts.bind(Path("/proc"), root / "proc", writable=True)
    _mount_sysfs(root / "sys", own_network=own_network)
    _mount_devices(spec, root / "dev")
    mounts.bind(spec.work, root / WORK_DIRECTORY.lstrip("/"), writable=True)
    for source, bound in layer.bound_sources(spec):
        mounts.bind(source, root / str(bound.path).lstrip("/"), writable=bound.writable)


def mount_again(spec: NodeSpec, place: Path) -> None:
    """Mount the root once more, with everything mounted below it."""
    place.mkdir()
    mounts.bind(spec.directory / "root", place, writable=True)


def _mount_sysfs(point: Path, *, own_network: bool) -> None:
    """Sysfs shows the links of the mounting process (network_namespaces(7)); a kernel may allow only the host's own."""
    flags = mounts.MS_RDONLY | mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC
    if own_network:
        with suppress(NodeError):
            mounts.mount("sysfs", point, "sysfs", flags)
            return
    mounts.bind(Path("/sys"), point, writable=True)


def _mount_devices(spec: NodeSpec, dev: Path) -> None:
    """As root's nodes (``root_mounts``), but binding the host's device nodes one by one: none can be made here."""
    mounts.mount(spec.name, dev, "tmpfs", mounts.MS_NOSUID | mounts.MS_NOEXEC, "size=64k,mode=755")
    for name in _DEVICES:
        (dev / name).touch()
        mounts.mount(f"/dev/{name}", dev / name, "", mounts.MS_BIND)
    for device in spec.devices:
        point = dev / device.path.relative_to("/dev")
        open_folders(point, device)
        point.touch()
        mounts.mount(str(device.path), point, "", mounts.MS_BIND)
    for name, target in _LINKS.items():
        (dev / name).symlink_to(target)
    for name in ("pts", "shm"):
        (dev / name).mkdir()
    flags = mounts.MS_NOSUID | mounts.MS_NOEXEC
    mounts.mount(spec.name, dev / "pts", "devpts", flags, "newinstance,ptmxmode=0666,mode=620")
    mounts.mount(spec.name, dev / "shm", "tmpfs", mounts.MS_NOSUID, f"size={spec.shm_byte},mode=1777")


if __name__ == "__main__":
    sys.exit(main())
