# SPDX-License-Identifier: Apache-2.0
"""The image as a SIF, the one file that Apptainer's users run, and whether this host can mount one.

Made as ``apptainer build`` makes it, a squashfs compressed by gzip, but without its copy of the whole image beforehand.
Root's Apptainer has the kernel mount the squashfs, through a loop device; an ordinary user's has a FUSE program do so
(apptainer.org, user guide, "Installing unprivileged"). Sources: apptainer-sif-add(1), mksquashfs(1).
"""

import os
import shutil
from functools import lru_cache
from pathlib import Path

from tare.engines import engine
from tare.errors import NodeError
from tare.guests.disk import only_maker, require_room, unreadable
from tare.host import process
from tare.host.distribution import to_install
from tare.host.kernel_files import read_text
from tare.host.mounts import parse_mounts
from tare.host.paths import sifs_directory
from tare.host.privileges import ordinary_user
from tare.host.scratch import scratch_folder
from tare.host.user_namespaces import Obstacle
from tare.nodes.unprivileged import members

PROGRAM = "apptainer"
FUSE_PROGRAMS = ("squashfuse_ll", "squashfuse")
"""What mounts a SIF for an ordinary user, in the order in which Apptainer looks for it."""
COMPRESSION = ("-comp", "gzip")
_FUSE = Path("/dev/fuse")
_MAKE_LIMIT_S = 900.0
_TRY_LIMIT_S = 10.0
_PRIMARY_SQUASHFS = ("--datatype", "4", "--parttype", "2", "--partfs", "1", "--partarch")
_ARCHITECTURES = {"x86_64": "2", "aarch64": "4"}
"""As ``uname -m`` names them → as a SIF does."""
_ALONE = ("--mount", "--pid", "--fork", "--kill-child", "--")
"""Further options of unshare(1): a daemon that the command leaves ends with it."""


def image_sif(image_root: Path, digest: str) -> Path:
    """The image as a SIF, made once per digest within a minute; it goes with the image. Raises ``NodeError``.

    It holds what this user may read, each file with its owner where root made it.
    """
    final = sifs_directory() / f"{digest.removeprefix('sha256:')}.sif"
    if not final.is_file():
        with only_maker(sifs_directory()):
            if not final.is_file():  # another process may have made it meanwhile
                _make(image_root, final)
    return final


def _make(image_root: Path, final: Path) -> None:
    content, new = final.with_name(".new.squashfs"), final.with_name(".new.sif")
    require_room(image_root, final.parent)
    machine = _ARCHITECTURES.get(os.uname().machine, "0")
    try:
        new.unlink(missing_ok=True)
        process.run_checked(_mksquashfs(image_root, content), timeout_s=_MAKE_LIMIT_S)
        _sif("new", str(new))
        _sif("add", *_PRIMARY_SQUASHFS, machine, str(new), str(content))
        new.chmod(0o400)  # an image may hold what others must not read
        new.rename(final)
    finally:
        content.unlink(missing_ok=True)
        new.unlink(missing_ok=True)


def _mksquashfs(root: Path, target: Path) -> list[str]:
    """As Apptainer calls it; an ordinary user's files are root's in the SIF, and what he may not read is not in it."""
    excluded = [str(path) for path in unreadable(root)] if ordinary_user() else []
    return [
        *("mksquashfs", str(root), str(target), "-noappend", "-no-progress", "-quiet", *COMPRESSION),
        *(["-all-root"] if ordinary_user() or root.stat().st_uid != 0 else []),
        *(["-e", *excluded] if excluded else []),
    ]


def _sif(*words: str) -> None:
    """``apptainer sif``, with a folder of notes that is not the one in the user's home."""
    with scratch_folder("apptainer") as folder:
        configured = ["env", f"APPTAINER_CONFIGDIR={folder}", PROGRAM, "--silent", "--nocolor"]
        argv = [*as_root(), *configured, "sif", *words]
        process.run_checked(argv, timeout_s=_MAKE_LIMIT_S)


def as_root() -> list[str]:
    """The prefix of Apptainer's own commands: it refuses a user whom the host has no name for."""
    return ["unshare", "--user", "--map-root-user"] if ordinary_user() else []


@lru_cache
def obstacle() -> Obstacle | None:
    """What keeps this user from running a SIF on this host, by a trial; ``None``: nothing. Leaves no trace."""
    if missing("mksquashfs"):
        return Obstacle("mksquashfs is missing, which makes a SIF", to_install("squashfs-tools"))
    if ordinary_user() and all(missing(program) for program in FUSE_PROGRAMS):
        return Obstacle("squashfuse is missing, which mounts a SIF without root", to_install("squashfuse"))
    if ordinary_user() and not os.access(_FUSE, os.R_OK | os.W_OK):
        state = "closed to you" if _FUSE.exists() else "missing"
        return Obstacle(f"{_FUSE} is {state}", f"ask the administrator for: modprobe fuse; chmod 666 {_FUSE}")
    return _tried()


def missing(program: str) -> bool:
    """Whether a program is not on this host."""
    return shutil.which(program, path=process.tool_environment()["PATH"]) is None


def _tried() -> Obstacle | None:
    with scratch_folder("sif") as folder:
        image, point = folder / "image", folder / "point"
        point.mkdir()
        made = ["mksquashfs", str(point), str(image), "-noappend", "-no-progress", "-quiet", *COMPRESSION]
        try:
            process.run_checked(made, timeout_s=_TRY_LIMIT_S)
            done = process.run(_mounting(image, point), timeout_s=_TRY_LIMIT_S)
        except NodeError as error:
            return Obstacle(str(error), "correct what it says")
    if done.code == 0:
        return None
    if ordinary_user():
        return Obstacle(f"no SIF can be mounted here: {done.last_words}", "a site's own rule may forbid it")
    return Obstacle(
        f"no SIF can be mounted here: {done.last_words}",
        "modprobe squashfs loop; in a container, give it the loop devices",
    )


def _mounting(image: Path, point: Path) -> list[str]:
    """The argv of a mount that ends with it, in the way that Apptainer goes."""
    if not ordinary_user():
        mount = ["mount", "-t", "squashfs", "-o", "ro,loop", str(image), str(point)]
        return ["unshare", "--mount", "--", *mount]
    program = next(program for program in FUSE_PROGRAMS if not missing(program))
    return [*as_root(), *_ALONE, program, str(image), str(point)]


def servers(node_name: str) -> list[int]:
    """Process ids of the FUSE programs that serve an ordinary user's node."""
    return [pid for pid in members.members(node_name) if engine.is_called(pid, *FUSE_PROGRAMS)]


def root_files(node_name: str, init_pid: int, sif: Path) -> str:
    """What mounted the SIF for a node, and what the node's root is over it, in words.

    Raises ``NodeError`` where nothing did: Apptainer then unpacks a SIF in silence, and runs what it unpacked.
    """
    names = [read_text(f"/proc/{pid}/comm") for pid in servers(node_name)] if ordinary_user() else []
    if not ordinary_user() and _is_in_loop(sif):
        names = ["the kernel"]
    if not names:
        raise NodeError(f'Apptainer mounted no SIF but unpacked {sif}: choose form = "sandbox"')
    mounts = parse_mounts(read_text(f"/proc/{init_pid}/mounts") or "")
    over = [mount.kind for mount in mounts if mount.point == Path("/")][-1:]
    return f"SIF, mounted by {names[0]}, under {''.join(over) or 'an unknown file system'}"


def _is_in_loop(sif: Path) -> bool:
    file = str(sif.resolve())
    return any(read_text(str(path)) == file for path in Path("/sys/block").glob("loop*/loop/backing_file"))
