# SPDX-License-Identifier: Apache-2.0
"""What of a machine a run may not change: mounts, network, control groups, containers, processes."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tare.host.cgroups import ENDING, PARENT

HOLDER = "tests-"
"""What the groups' names begin with by which each process of the tests keeps the nodes' common parent."""
_DOCKERS_GROUP, _DOCKERS_MOUNT = "docker", "/run/docker/netns/default"
"""What a Docker daemon makes for a host's first containers and keeps: their groups' parent, the host's network."""
_OURS = (
    "/opt/tare/bin/",
    "tare.measure.guardian",
    "systemd-nspawn",
    "bwrap",
    "lxc-start",
    "[lxc monitor]",
    "containerd-shim",
    "conmon",
    "ch-run",
    "Singularity instance",
    "Apptainer instance",
    "qemu-system-",
    "runsc",
    "runsc-",
    "strace --follow-forks",
)


@dataclass(frozen=True)
class Machine:
    """Names of everything that a run could leave behind."""

    things: frozenset[str]

    @classmethod
    def look(cls) -> Self:
        return cls(frozenset({*_mounts(), *_links(), *_groups(), *_containers(), *_processes()}))

    def beyond(self, before: Self, limit_s: float = 10.0) -> list[str]:
        """What came since and stays: the kernel removes some things late, and other tests run meanwhile."""
        deadline = time.monotonic() + limit_s
        left = self.things - before.things
        while left and time.monotonic() < deadline:
            time.sleep(0.1)
            left &= type(self).look().things
        return sorted(left)


def _mounts() -> list[str]:
    lines = Path("/proc/self/mounts").read_text().splitlines()
    places = [line.split()[1] for line in lines]
    return [f"mount {place}" for place in places if place != _DOCKERS_MOUNT]


def _links() -> list[str]:
    links = [f"link {name}" for name in os.listdir("/sys/class/net")]  # noqa: PTH208 - names are wanted
    folder = Path("/run/netns")
    return links + (
        [f"network namespace {entry.name}" for entry in folder.iterdir()] if folder.exists() else []
    )


def _groups() -> list[str]:
    """Without the common parents: Docker's, the nodes' and, in this, the one where LXC's monitors end.

    Processes of the tests keep the nodes' when they begin; a run removes both as it ends. Groups beside the tests' own
    are of whoever started the tests, and may start others.
    """
    parents = {PARENT, _DOCKERS_GROUP}
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    beside = {str(Path(line.split(":", 2)[2]).parent) for line in lines} - {"/"}
    collected = []
    for directory, folders, _ in os.walk("/sys/fs/cgroup"):
        if directory.endswith(tuple(beside)):
            continue
        collected += [
            f"cgroup {directory}/{name}"
            for name in folders
            if name not in parents
            and not name.startswith(HOLDER)
            and f"/{PARENT}/{ENDING}" not in f"{directory}/{name}"
        ]
    return collected


def _containers() -> list[str]:
    try:
        done = subprocess.run(
            ["docker", "ps", "--all", "--quiet", "--no-trunc"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except FileNotFoundError:
        return []
    return [f"container {identity}" for identity in done.stdout.split()] if done.returncode == 0 else []


def _processes() -> list[str]:
    """All but kernel threads and whoever belongs to the test runner itself."""
    collected = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if command and any(word in command for word in _OURS):
            collected.append(f"process {entry.name} {command[:120]}")
    return collected
