# SPDX-License-Identifier: Apache-2.0
"""Settings that a process shares along its whole path of control groups, from the root to its node's own group.

Groups below the node's own are the technology's business: they share the node's part.
Sources: the kernel's admin-guide pages for cgroup-v1 and cgroup-v2, block/bfq-iosched.rst.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tare.host.cgroups.group import Group
from tare.host.cgroups.hierarchies import V1, Hierarchies
from tare.host.kernel_files import read_text

_DOWN = " > "
_NONE = "none"
_UNLIMITED_BYTE = 1 << 60
_REMEMBERED = 64
"""Settings of one controller share a path, which is read three times in a trial."""
_MANY_PROCESSES = 4096
"""A limit this high counts as none: it cannot make a job slower before it makes it fail."""


@dataclass(frozen=True, slots=True)
class _GroupSetting:
    """One setting along the path: the controller, its files (the first with a value counts), and the texts' format."""

    controller: str
    files: tuple[str, ...]
    shown: Callable[[list[str]], str]
    above: bool = False
    """Only of the groups above the node's own, since the campaign states the node's own limit."""
    shared_out: bool = False
    """Whether a node that counts for several gets as much as all of them: one node's share is shown."""


def path_settings(group: Group, host: Hierarchies, node: str, weight: int = 1) -> dict[str, str]:
    """Label → value for the groups of a process (``group_of``); a controller that does not hold it is left out.

    ``weight``: how many of the layout's nodes this node counts for.
    """
    settings = _VERSION_1 if host.version == V1 else _VERSION_2
    shown = {label: _along(setting, group, host, node, weight) for label, setting in settings.items()}
    return {label: text for label, text in shown.items() if text}


def _along(setting: _GroupSetting, group: Group, host: Hierarchies, node: str, weight: int) -> str:
    path, root = group.path(setting.controller), host.mounts.get(setting.controller)
    if path is None or root is None or path == str(root):
        return ""
    shared = levels(path, str(root), node)[: -1 if setting.above else None]
    texts = [_text(level, setting.files) for level in shared]
    if setting.shared_out and texts[-1].isdecimal() and not int(texts[-1]) % weight:
        texts[-1] = str(int(texts[-1]) // weight)
    return setting.shown(texts)


def parent_of(group: Group, host: Hierarchies, node: str) -> str | None:
    """The group in which the node's own group competes for the processors; ``None`` where none holds the process."""
    path, root = group.path("cpu"), host.mounts.get("cpu")
    if path is None or root is None or path == str(root):
        return None
    return os.path.dirname(levels(path, str(root), node)[-1])  # noqa: PTH120 - for every node


@lru_cache(maxsize=_REMEMBERED)
def levels(path: str, root: str, node: str) -> tuple[str, ...]:
    """From the first below the root to the node's own: the first with its name, else the process's own."""
    names = path.removeprefix(root).strip("/").split("/")
    own = next((place for place, name in enumerate(names) if node in name), len(names) - 1)
    return tuple("/".join([root, *names[: place + 1]]) for place in range(own + 1))


def _text(level: str, files: Iterable[str]) -> str:
    return next(filter(None, (read_text(f"{level}/{name}") for name in files)), "")


def _weights(texts: list[str]) -> str:
    """Version 2 writes ``default 100`` before the weights of individual devices.

    Empty where a level has none, because its controller is not handed down that far: it shares its parent's part.
    """
    if not all(texts):
        return ""
    return _DOWN.join(" ".join(text.split()).removeprefix("default ") for text in texts)


def _least(texts: list[str]) -> str:
    numbers = [int(text) for text in texts if text.isdecimal() and int(text) < _UNLIMITED_BYTE]
    return str(min(numbers)) if numbers else _NONE


def _least_processes(texts: list[str]) -> str:
    """A distant limit counts as none: systemd gives each of its scopes 15 % of all, whatever is requested."""
    return _least([text for text in texts if not text.isdecimal() or int(text) < _MANY_PROCESSES])


def _least_us(texts: list[str]) -> str:
    least = _least(texts)
    return least if least == _NONE else f"{least} us in each period"


def _quota(texts: list[str]) -> str:
    """Each text is ``quota period``, both in microseconds; a quota of max means none."""
    pairs = [text.split() for text in texts if text]
    shares = [int(quota) / int(period) for quota, period in pairs if quota.isdecimal()]
    return f"{min(shares):g} processors" if shares else _NONE


def _all(texts: list[str]) -> str:
    return "; ".join(" ".join(text.split()) for text in texts if text) or _NONE


_THROTTLES = tuple(
    f"blkio.throttle.{way}_{unit}_device" for way in ("read", "write") for unit in ("bps", "iops")
)
_VERSION_1: Mapping[str, _GroupSetting] = {
    "CPU weight": _GroupSetting("cpu", ("cpu.shares",), _weights, shared_out=True),
    "CPU quota above": _GroupSetting("cpu", ("cpu.cfs_quota_us",), _least_us, above=True),
    "I/O weight": _GroupSetting("blkio", ("blkio.bfq.weight", "blkio.weight"), _weights),
    "I/O limits": _GroupSetting("blkio", _THROTTLES, _all),
    "process limit above": _GroupSetting("pids", ("pids.max",), _least_processes, above=True),
    "memory limit above": _GroupSetting("memory", ("memory.limit_in_bytes",), _least, above=True),
}
_VERSION_2: Mapping[str, _GroupSetting] = {
    "CPU weight": _GroupSetting("cpu", ("cpu.weight",), _weights, shared_out=True),
    "CPU quota above": _GroupSetting("cpu", ("cpu.max",), _quota, above=True),
    "I/O weight": _GroupSetting("io", ("io.bfq.weight", "io.weight"), _weights),
    "I/O limits": _GroupSetting("io", ("io.max",), _all),
    "process limit above": _GroupSetting("pids", ("pids.max",), _least_processes, above=True),
    "memory limit above": _GroupSetting("memory", ("memory.max",), _least, above=True),
}
