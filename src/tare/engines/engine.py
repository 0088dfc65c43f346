# SPDX-License-Identifier: Apache-2.0
"""Code shared by Docker and Podman: the arguments for a node's limits and mounts, and the search for its containers.

A container is found by the identity that the engine wrote to the node's folder, or else by our label: never by its name
alone, which may belong to another user's container.
"""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.engines import engine_arguments
from tare.errors import NodeError
from tare.host import cgroups, process, standing
from tare.host.kernel_files import inner_numbers, read_text
from tare.nodes import layer
from tare.nodes.provider import WORK_DIRECTORY, Node, NodeSpec
from tare.records import OptionValue

STORAGES = ("layer", "own")
STORAGE_HELP = "\"own\": the technology's own storage driver instead of Tare's layer"
SECCOMP_HELP = "false: no filter of system calls"
PROFILE_HELP = "false: no filter of system calls; or the path of another profile of it"
_UNKNOWN_LIMITS = {"as"}
"""Limits that no engine accepts."""
CONTAINER = "container"
"""The name of the node's own container in its folder; there may be others."""

_LABEL = "tare.node"
_REMOVAL_LIMIT_S = 30.0


def check_run(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """What is wrong with the options that both engines share, as for ``Provider.check_options``."""
    return {**check_storage(options), **check_profile(options), **engine_arguments.check(options)}


def check_storage(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """What is wrong with the option ``storage``, as for ``Provider.check_options``."""
    value = options.get("storage", STORAGES[0])
    allowed = " or ".join(f'"{name}"' for name in STORAGES)
    return {} if value in STORAGES else {"storage": f"must be {allowed}, but is {value!r}"}


def check_seccomp(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """The same for the option ``seccomp``."""
    value = options.get("seccomp", True)
    return {} if isinstance(value, bool) else {"seccomp": f"must be true or false, but is {value!r}"}


def check_profile(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """The same where ``seccomp`` may also be a profile's path."""
    value = options.get("seccomp", True)
    if isinstance(value, bool):
        return {}
    if not isinstance(value, str) or not value.startswith("/"):
        return {"seccomp": f"must be true, false or the whole path of a profile, but is {value!r}"}
    return {} if Path(value).is_file() else {"seccomp": f"there is no file {value!r}; write a profile's path"}


def seccomp(spec: NodeSpec) -> list[str]:
    """The arguments for the system-call filter: the engine's own unless the options ask for none, or for another."""
    value = spec.options.get("seccomp", True)
    if value is True:
        return []
    return ["--security-opt", f"seccomp={value or 'unconfined'}"]


def require(complaints: Mapping[str, str]) -> None:
    """Raise ``NodeError`` with the first problem that ``Provider.check_options`` found."""
    for option, complaint in complaints.items():
        raise NodeError(f"the option {option} {complaint}")


def has_own_storage(options: Mapping[str, OptionValue]) -> bool:
    """Whether the engine stores the image and the node's writes."""
    return options.get("storage") == "own"


def limits(spec: NodeSpec) -> list[str]:
    """Swap counts as memory, so that none can be used in addition.

    Limits that the user's own arguments set are left out where an engine accepts them only once.
    """
    quota = (
        []
        if spec.cpu_quota is None or engine_arguments.chosen(spec.options).sets_quota
        else ["--cpu-period", "100000", "--cpu-quota", str(_quota_us(spec.cpu_quota))]
    )
    return [
        *("--cpuset-cpus", cgroups.format_processors(spec.processors), *quota),
        *("--memory", str(spec.memory_byte), "--memory-swap", str(spec.memory_byte)),
        *("--shm-size", str(spec.shm_byte), "--pids-limit", _processes(spec)),
        *resource_limits(*engine_arguments.resource_limits(spec.options)),
    ]


def _processes(spec: NodeSpec) -> str:
    """The limit on processes; without one Podman sets its own."""
    return str(-1 if spec.bounds.processes is None else spec.bounds.processes)


def resource_limits(*but: str) -> list[str]:
    """This process's limits, which other nodes inherit, except ``but``: a daemon may have started with others."""
    return [
        f"--ulimit={name}={soft}:{hard}"
        for name, (soft, hard) in standing.resource_limits().items()
        if name not in {*_UNKNOWN_LIMITS, *but}
    ]


def _quota_us(cpu_quota: float) -> int:
    return round(cpu_quota * 100_000)


def mount(source: Path, target: str, *, writable: bool) -> list[str]:
    """One line of CSV (RFC 4180), as ``--mount`` reads it: a path may hold commas and colons."""
    fields = ["type=bind", f"source={source}", f"target={target}", *([] if writable else ["readonly"])]
    quoted = [field.replace('"', '""') for field in fields]
    return ["--mount", ",".join(f'"{field}"' for field in quoted)]


def shared_mounts(spec: NodeSpec) -> list[str]:
    """The work directory and the user's bound directories."""
    words = mount(spec.work, WORK_DIRECTORY, writable=True)
    for source, bound in layer.bound_sources(spec):
        words += mount(source, str(bound.path), writable=bound.writable)
    return words


def devices(spec: NodeSpec) -> list[str]:
    """The host's devices, with the control group's leave for them where there is one."""
    return [f"--device={device.path}" for device in spec.devices]


def identified(spec: NodeSpec, which: str = CONTAINER) -> list[str]:
    """The marks of a node's container: our label, and the file to which the engine writes its identity."""
    return ["--label", f"{_LABEL}={spec.name}", "--cidfile", str(_identity_file(spec, which))]


def identity(spec: NodeSpec, which: str) -> str | None:
    """The identity that the engine wrote, or ``None``."""
    try:
        return _identity_file(spec, which).read_text().strip() or None
    except FileNotFoundError:
        return None


def _identity_file(spec: NodeSpec, which: str) -> Path:
    return spec.directory / f"{which}.id"


def remove_known(remover: Sequence[str], spec: NodeSpec, *others: str) -> bool:
    """Remove the containers whose identities were written; return whether that was the whole node.

    Its main container is started last: when its identity exists, so do the others'.
    """
    if identity(spec, CONTAINER) is None:
        return False
    known = [identity(spec, which) for which in (CONTAINER, *others)]
    return process.run([*remover, *filter(None, known)]).code == 0


def remove_labelled(engine: Sequence[str], remover: Sequence[str], spec: NodeSpec) -> None:
    """Remove the containers with our label until none is left, as others may too; ``NodeError`` if some stay."""
    deadline = time.monotonic() + _REMOVAL_LIMIT_S
    while identities := _labelled(engine, spec):
        done = process.run([*remover, *identities])
        if done.code == 0:
            return
        if time.monotonic() > deadline:
            raise NodeError(f"{engine[0]} does not remove the container {spec.name}: {done.last_words}")
        time.sleep(0.1)


def _labelled(engine: Sequence[str], spec: NodeSpec) -> list[str]:
    done = process.run([*engine, "ps", "--all", "--quiet", "--filter", f"label={_LABEL}={spec.name}"])
    if done.code != 0:
        raise NodeError(f"cannot ask {engine[0]} for the container {spec.name}: {done.last_words}")
    return done.stdout.split()


def supervisors(node: Node, name: str) -> list[int]:
    """Process ids of the parents of the node's processes that are called ``name`` (proc(5), comm)."""
    if node.init_pid is None:
        return []
    group = cgroups.group_of(node.init_pid)
    pairs = [
        (pid, parent) for pid in group.processes() if (parent := _parent(pid)) and is_called(parent, name)
    ]
    # A sandbox may stay at the top of a hierarchy without limits, where all other processes are.
    return sorted({parent for pid, parent in pairs if not group.lacks(pid)})


def _parent(pid: int) -> int | None:
    text = read_text(f"/proc/{pid}/stat")
    return None if text is None else int(text.rpartition(")")[2].split()[1])


def called(*names: str) -> list[int]:
    """The running processes with one of these names, by ``is_called``."""
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_called(int(pid), *names)]  # noqa: PTH208


def is_called(pid: int, *names: str) -> bool:
    """Whether a process running on this host, not in a container, has one of these names (15 letters of it)."""
    own = read_text(f"/proc/{pid}/comm")
    return own in {name[:15] for name in names} and len(inner_numbers(pid)) == 1
