# SPDX-License-Identifier: Apache-2.0
"""Directories of the host by virtiofs: one virtiofsd for each, in the node's control group, which ends with it.

It caches nothing in the guest (``cache=none``), so that the guests of a job see each other's files as they are, as
with 9p. It takes the options of QEMU 7.2's own virtiofsd, which its successor in Rust accepts too (not tried).
"""

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from tare.environments.qemu.command import QemuMachine
from tare.environments.qemu.options import BindWay
from tare.errors import NodeError
from tare.host import process
from tare.host.distribution import to_install
from tare.nodes.provider import Bind, NodeSpec

PROGRAMS = (Path("/usr/lib/qemu/virtiofsd"), Path("/usr/libexec/virtiofsd"))
"""Where QEMU 7.2's package has it, and where the package of its successor does."""


def program(places: Sequence[Path] = PROGRAMS) -> Path:
    """The virtiofsd of this host; ``NodeError`` with the package to install."""
    for place in places:
        if os.access(place, os.X_OK):
            return place
    install = to_install("qemu-system-common")
    raise NodeError(f"share = virtiofs needs virtiofsd, and there is none in {places[0].parent}; {install}")


def serve(spec: NodeSpec, machine: QemuMachine, before: Sequence[str]) -> None:
    """Start what serves the machine's directories, with ``before`` as its argv's prefix; nothing where 9p does."""
    if machine.options.share is BindWay.VIRTIOFS:
        for number, bind in enumerate(machine.binds):
            _serve(spec, f"bind{number}", bind, before)


def complaint(spec: NodeSpec) -> str:
    """The last words of its directories' servers, why the guest may not have got ready; usually empty."""
    logs = [spec.directory / f"bind{number}.log" for number in range(len(spec.binds))]
    lines = [line for log in logs if log.exists() for line in log.read_text(errors="replace").splitlines()]
    return f"virtiofsd: {lines[-1]}" if lines else ""


def _serve(spec: NodeSpec, name: str, bind: Bind, before: Sequence[str]) -> None:
    with _listening(spec.directory, name) as listening:
        words = [str(program()), "-f", f"--fd={listening.fileno()}", *_options(bind)]
        log = spec.directory / f"{name}.log"
        # Its socket is there already: QEMU connects without waiting for it.
        process.start_idle([*before, *words], log=log, ready=b"", pass_fds=(listening.fileno(),))


def _options(bind: Bind) -> list[str]:
    source = str(bind.path).replace("\\", "\\\\").replace(",", "\\,")
    return ["-o", f"source={source}", "-o", "cache=none,allow_direct_io,log_level=warn"]


def _listening(directory: Path, name: str) -> socket.socket:
    """A socket in the node's folder, by a path of any length (unix(7) takes 107 bytes)."""
    held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(f"/proc/self/fd/{held}/{name}")
        listening.listen(1)
    except OSError as error:
        listening.close()
        raise NodeError(f"{directory}/{name} cannot be made: {error.strerror}") from error
    finally:
        os.close(held)
    return listening
