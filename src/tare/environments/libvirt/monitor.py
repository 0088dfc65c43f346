# SPDX-License-Identifier: Apache-2.0
"""A domain's process, where that is a process of this host: QEMU's."""

import os
from contextlib import suppress
from pathlib import Path

from tare.environments.libvirt.virsh import Virsh
from tare.host.privileges import ordinary_user

_SYSTEM = Path("/run/libvirt")
_THREADS = "CPU "
"""QEMU's names for the threads of the domain's processors: ``CPU 0/KVM``, ``CPU 0/TCG``."""


def state_folder(virsh: Virsh) -> Path | None:
    """The folder where this host's libvirtd records what runs; ``None`` if the domains are no processes of this host.

    For root a session is the system's (libvirt's URI documentation).
    """
    if virsh.uri not in {"qemu:///system", "qemu:///session"}:
        return None
    if not ordinary_user() or virsh.uri.endswith("system"):
        return _SYSTEM
    runtime, cache = (os.environ.get(name) for name in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME"))
    around = Path(runtime) if runtime else Path(cache) if cache else Path.home() / ".cache"
    return around / "libvirt"


def process(state: Path | None, domain: str) -> int | None:
    """A domain's process id; ``None`` if it does not run, or not as a process of this host."""
    if state is None:
        return None
    for folder in (state / "qemu", state / "qemu" / "run"):  # the system's, a session's
        with suppress(OSError, ValueError):
            return int((folder / f"{domain}.pid").read_text())
    return None


def processor_threads(pid: int) -> list[int]:
    """Ids of the threads that run the domain's processors, in their order; empty when the process is gone."""
    threads = {}
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError, ValueError):
            name = (task / "comm").read_text(errors="replace")
            if name.startswith(_THREADS):
                threads[int(name.removeprefix(_THREADS).partition("/")[0])] = int(task.name)
    return [threads[number] for number in sorted(threads)]
