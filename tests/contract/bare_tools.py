# SPDX-License-Identifier: Apache-2.0
"""Payloads that the bare tools start, without Tare: what the confinement of a measured command is held against."""

import json
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from tests.contract.reach import ORDINARY

from tare.engines import engine
from tare.environments import sarus_image, udocker
from tare.environments.apptainer import rights as apptainer_rights
from tare.environments.crun import hiding as crun_hiding
from tare.environments.nspawn import _resource_limits
from tare.host import cgroups, standing
from tare.host.process import tool_environment
from tare.records import User

LIMIT_S = 30.0
INIT = "/opt/tare/bin/init"
DROP = "/opt/tare/bin/drop"
_CREDENTIALS = (
    *("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters"),
    *("Uid", "Gid", "Groups"),
)
_COMMON = "/usr/share/lxc/config/common.conf"

Command = Callable[[Path, list[str]], list[str]]
"""A root directory and a payload → the tool's argv, as its manual page has it."""


def credentials(status: str) -> dict[str, str]:
    """Of the text of /proc/PID/status."""
    pairs = (line.partition(":") for line in status.splitlines())
    return {name: value.strip() for name, _, value in pairs if name in _CREDENTIALS}


def confinement(pid: int) -> dict[str, object]:
    """What the host's kernel says of a process, but for Tare's own limit of the output's size."""
    folder = Path("/proc", str(pid))
    limits = (folder / "limits").read_text().splitlines()
    return {
        **credentials((folder / "status").read_text()),
        "limits": [line for line in limits if not line.startswith("Max file size")],
        **standing.standing(pid),
    }


def pid_of(*words: str) -> int:
    """The process with this command line, once there is one."""
    wanted = b"".join(word.encode() + b"\0" for word in words)
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if (folder / "cmdline").read_bytes() == wanted:
                    return int(folder.name)
            except OSError:
                continue
        time.sleep(0.02)
    raise AssertionError(f"no process {words}")


def make_root(folder: Path, image_root: Path) -> Path:
    """The least that every tool takes for a root directory, with one program."""
    for name in ("proc", "sys", "dev", "tmp", "etc", "run", "var", "root", "usr/lib", "opt/tare/bin"):
        (folder / name).mkdir(parents=True)
    for name in ("passwd", "group"):
        (folder / "etc" / name).touch()
    (folder / "usr/lib/os-release").write_text("ID=bare\n")
    (folder / "etc/os-release").symlink_to("../usr/lib/os-release")
    for program in (INIT, DROP):
        shutil.copy2(f"{image_root}{program}", f"{folder}{program}")
    return folder


@contextmanager
def payload(technology: str, root: Path, user: User) -> Iterator[int]:
    """The process id, on the host, of what the bare tool runs, and what then becomes this user.

    A tool that makes a user namespace, or leaves no capability, is started by the user instead: inside there is
    nobody else to become.
    """
    words = [INIT, secrets.token_hex(8)]
    drop = ["--user", str(user), "--"]
    outside = [f"{root}{DROP}", *drop] if technology == "charliecloud" else []
    with BARE[technology](root, words if technology in OF_THE_USER else [DROP, *drop, *words]) as argv:
        tool = subprocess.Popen(
            [*outside, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**tool_environment(), "USER": "root"},
        )
        try:
            pid = pid_of(*words)
            yield pid
            os.kill(pid, 9)
            tool.wait(timeout=LIMIT_S)
        finally:
            tool.kill()
            tool.wait(timeout=LIMIT_S)


def _plain(command: Command) -> Callable[[Path, list[str]], AbstractContextManager[list[str]]]:
    @contextmanager
    def started(root: Path, words: list[str]) -> Iterator[list[str]]:
        yield command(root, words)

    return started


@contextmanager
def _docker(root: Path, words: list[str]) -> Iterator[list[str]]:
    """The limits of resources are those that Tare states alike in every environment."""
    with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as packing:
        done = subprocess.run(
            ["docker", "import", "-"], stdin=packing.stdout, capture_output=True, check=True
        )
    image = done.stdout.decode().strip()
    try:
        yield ["docker", "run", "--rm", "--network", "none", *engine.resource_limits(), image, *words]
    finally:
        subprocess.run(["docker", "rmi", "--force", image], capture_output=True, check=False)


@contextmanager
def _podman(root: Path, words: list[str]) -> Iterator[list[str]]:
    """With the runtime and the limits that a host with control groups of version 1 takes."""
    runtime = ["--runtime", "runc"] if cgroups.find_hierarchies().version == cgroups.V1 else []
    with tempfile.TemporaryDirectory(prefix="bare-", dir="/run") as notes:
        places = [f"--root={notes}/root", f"--runroot={notes}/run", f"--tmpdir={notes}/tmp"]
        podman = ["podman", *runtime, "--cgroup-manager=cgroupfs", "--events-backend=none", *places]
        parent = f"bare-{words[-1]}"
        limits = ["--storage-driver=vfs", "run", "--rm", "--network=none", *engine.resource_limits()]
        yield [*podman, *limits, f"--cgroup-parent=/{parent}", "--rootfs", str(root), *words]
    cgroups.named_groups(parent).remove()


@contextmanager
def _lxc(root: Path, words: list[str]) -> Iterator[list[str]]:
    """As lxc-create writes a configuration on Debian: the common one, a root, a network."""
    with tempfile.TemporaryDirectory(prefix="bare-") as folder:
        name = words[-1]
        (Path(folder) / name).mkdir()
        lines = (
            f"lxc.include = {_COMMON}",
            f"lxc.rootfs.path = dir:{root}",
            f"lxc.init.cmd = {' '.join(words)}",
            f"lxc.uts.name = {name}",
            "lxc.net.0.type = empty",
        )
        (Path(folder) / name / "config").write_text("\n".join(lines) + "\n")
        yield ["lxc-start", "--foreground", "-P", folder, "-n", name]
        for part in ("payload", "monitor"):
            cgroups.named_groups(f"lxc.{part}.{name}").remove()
        for directory in cgroups.named_groups("lxc.pivot").directories:
            with suppress(OSError):  # another container's monitor may be in it
                directory.rmdir()


@contextmanager
def _crun(root: Path, words: list[str]) -> Iterator[list[str]]:
    """With what `crun spec` writes, root that may become another user, and the limits that Tare states."""
    with tempfile.TemporaryDirectory(prefix="bare-", dir="/run") as bundle:
        crun = ["crun", "--cgroup-manager=disabled", f"--root={bundle}/notes"]
        subprocess.run([*crun, "spec", f"--bundle={bundle}"], check=True)
        file = Path(bundle, "config.json")
        configuration = json.loads(file.read_text())
        first = configuration["process"]
        first |= {"args": words, "terminal": False, "rlimits": []}
        for kind in ("bounding", "effective", "permitted"):
            first["capabilities"][kind] += ["CAP_CHOWN", "CAP_SETGID", "CAP_SETUID"]
        configuration["root"] = {"path": str(root)}
        file.write_text(json.dumps(configuration))
        yield [*crun_hiding(), *crun, "run", f"--bundle={bundle}", words[-1]]


@contextmanager
def _enroot(root: Path, words: list[str]) -> Iterator[list[str]]:
    """With its own hooks and mounts, in a root that is the user's, as ``enroot create`` leaves it, and has a shell."""
    for library in [Path("/bin/sh"), *_libraries(Path("/bin/sh"))]:
        (root / library.parent.relative_to("/")).mkdir(parents=True, exist_ok=True)
        shutil.copy2(library, root / library.relative_to("/"))
    subprocess.run(["chown", "-R", str(ORDINARY), str(root)], check=True)
    notes = root.parent / "enroot"
    notes.mkdir()
    notes.chmod(0o777)
    places = [f"ENROOT_{name}_PATH={notes}/{name}" for name in ("RUNTIME", "CACHE", "CONFIG")]
    yield ["env", f"ENROOT_DATA_PATH={root.parent}", *places, "enroot", "start", "--rw", root.name, *words]


def _libraries(program: Path) -> list[Path]:
    said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    return [Path(word) for word in said.split() if word.startswith("/")]


@contextmanager
def _sarus(root: Path, words: list[str]) -> Iterator[list[str]]:
    """Started as a set-user-id program is by a user, from a repository that holds this root alone."""
    folder = root.parent / "repository"
    sarus_image._make(root, folder)
    as_user = ["setpriv", f"--ruid={ORDINARY.uid}", f"--rgid={ORDINARY.gid}", "--clear-groups", "--"]
    run = ["sarus", "run", "--centralized-repository", sarus_image.REFERENCE, *words]
    yield [*sarus_image.showing([(folder, sarus_image.repository_place())]), *as_user, *run]


@contextmanager
def _udocker(root: Path, words: list[str]) -> Iterator[list[str]]:
    """A container of the user's, as ``udocker create`` leaves it, in udocker's default mode and as that user."""
    repository, engine = root.parent / "udocker", udocker._engine({})
    container = repository / "containers" / words[-1]
    container.mkdir(parents=True)
    (container / "ROOT").symlink_to(root)
    (container / "container.json").write_text('{"config": {}}')
    subprocess.run(["chown", "-R", "--no-dereference", str(ORDINARY), repository, root], check=True)
    places = [f"HOME={repository}", f"UDOCKER_DIR={repository}", f"UDOCKER_TMP={repository}"]
    run = ["udocker", "--quiet", "run", "--nobanner", f"--user={ORDINARY.uid}", "--workdir=/", words[-1]]
    yield ["env", *places, "UDOCKER_TARBALL=", f"{engine.variable}={engine.path}", *run, *words]


OF_THE_USER = {"charliecloud", "enroot", "sarus", "udocker"}
BARE: Mapping[str, Callable[[Path, list[str]], AbstractContextManager[list[str]]]] = {
    "native": _plain(lambda root, words: ["chroot", str(root), *words]),
    "chroot": _plain(lambda root, words: ["chroot", str(root), *words]),
    "docker": _docker,
    "podman": _podman,
    "lxc": _lxc,
    "systemd-nspawn": _plain(
        lambda root, words: [
            *("systemd-nspawn", "--quiet", "-D", str(root), "--register=no", "--keep-unit", "--console=pipe"),
            *(*_resource_limits(), *words),
        ]
    ),
    "bubblewrap": _plain(
        lambda root, words: [
            *("bwrap", "--bind", str(root), "/", "--proc", "/proc", "--dev", "/dev", "--unshare-pid", *words)
        ]
    ),
    "crun": _crun,
    "udocker": _udocker,
    "apptainer": _plain(
        lambda root, words: [
            *("env", f"APPTAINER_CONFIGDIR={root.parent}/configuration"),
            *("apptainer", "--silent", "exec", "--writable", "--contain", "--no-home", "--pid", "--no-init"),
            *(*apptainer_rights(), str(root), *words),
        ]
    ),
    "enroot": _enroot,
    "charliecloud": _plain(lambda root, words: ["ch-run", "--write", str(root), "--", *words]),
    "sarus": _sarus,
}
"""Technology → the argv of the bare tool, with what it needs around it."""
