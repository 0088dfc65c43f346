# SPDX-License-Identifier: Apache-2.0
"""Whether a technology is what somebody requires, and if not, why."""

from collections.abc import Callable, Mapping

from tare.records.advice import Isolation, Need, Required, Suitability

_SAID: Mapping[Isolation, str] = {
    Isolation.NONE: "nothing separates it from the host",
    Isolation.FILES: "it has its own files and little else",
    Isolation.NAMESPACES: "namespaces of the host's own kernel separate it",
    Isolation.SANDBOX: "a kernel in user space separates it",
    Isolation.MACHINE: "it is a virtual machine",
}
_UNKNOWN = "not known: it depends on how it is set up here"


def unsuitable(suitability: Suitability, required: Required) -> str | None:
    """Why it does not meet the requirement; ``None``: it does. What depends on the host does not."""
    return _CHECKS[required.need](suitability, required.value)


def _without_root(own: Suitability, _value: str) -> str | None:
    return _unless(own.root, wanted=False, why="it needs root, or root's help")


def _without_daemon(own: Suitability, _value: str) -> str | None:
    return _unless(own.daemon, wanted=False, why="it needs a running daemon")


def _own_kernel(own: Suitability, _value: str) -> str | None:
    return _unless(own.own_kernel, wanted=True, why="it runs on the host's kernel")


def _isolation(own: Suitability, value: str) -> str | None:
    if own.isolation is None:
        return _UNKNOWN
    return None if own.isolation >= Isolation[value.upper()] else _SAID[own.isolation]


def _live_migration(own: Suitability, _value: str) -> str | None:
    return _unless(own.live_migration, wanted=True, why="a running one cannot move to another host")


def _image(own: Suitability, value: str) -> str | None:
    if not own.images:
        return _UNKNOWN
    return None if value in own.images else f"it takes {' or '.join(own.images)}, not {value}"


def _gpu(own: Suitability, _value: str) -> str | None:
    return _unless(own.gpu, wanted=True, why="it gets no graphics processor of the host")


def _unless(value: bool | None, *, wanted: bool, why: str) -> str | None:
    if value is None:
        return _UNKNOWN
    return None if value is wanted else why


_CHECKS: Mapping[Need, Callable[[Suitability, str], str | None]] = {
    Need.NO_ROOT: _without_root,
    Need.NO_DAEMON: _without_daemon,
    Need.OWN_KERNEL: _own_kernel,
    Need.ISOLATION: _isolation,
    Need.LIVE_MIGRATION: _live_migration,
    Need.IMAGE: _image,
    Need.GPU: _gpu,
}
