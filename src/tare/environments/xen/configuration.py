# SPDX-License-Identifier: Apache-2.0
"""The configuration of a domain for xl(1): the text of xl.cfg(5)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.host.cgroups import format_processors
from tare.nodes.provider import NodeSpec

PV, PVH, HVM = "pv", "pvh", "hvm"
KINDS = (PVH, PV, HVM)
_MEBIBYTE = 1 << 20
Value = str | int | Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDomain:
    """The parts of a domain of Tare's own."""

    spec: NodeSpec
    kind: str
    """One of ``KINDS``; an HVM domain has emulated devices and no others."""
    kernel: Path
    initramfs: Path
    command_line: str
    image: Path
    layer: Path | None
    channel: Path
    """The Unix socket that carries commands."""

    def settings(self) -> dict[str, Value]:
        """Name → value, for ``text``."""
        return {
            "name": self.spec.name,
            "type": self.kind,
            **limits(self.spec, self.spec.memory_byte, pinned=True),
            "kernel": str(self.kernel),
            "ramdisk": str(self.initramfs),
            "cmdline": self.command_line,
            "disk": self._disks(),
            "vif": [],
            **self._channel(),
            **dict.fromkeys(("on_poweroff", "on_reboot", "on_crash"), "destroy"),
        }

    def _disks(self) -> list[str]:
        disks = [_disk(self.image, self._device("a"), read_only=self.kind != HVM)]
        return (
            disks if self.layer is None else [*disks, _disk(self.layer, self._device("b"), read_only=False)]
        )

    def _device(self, letter: str) -> str:
        return f"hd{letter}" if self.kind == HVM else f"xvd{letter}"

    def _channel(self) -> dict[str, Value]:
        """A second console of Xen's own, or a second serial line of QEMU's (xl.cfg(5): channel, serial)."""
        path = _plain(self.channel)
        if self.kind == HVM:
            return {"serial": ["pty", f"unix:{path},server,nowait"], "vnc": 0, "usb": 0}
        return {"channel": [f"connection=socket, path={path}, name=tare"]}


def limits(spec: NodeSpec, memory_byte: int, *, pinned: bool) -> dict[str, Value]:
    """One processor of the domain for each of the node's, pinned to it; xl counts memory in MiB."""
    memory = memory_byte // _MEBIBYTE
    settings: dict[str, Value] = {"vcpus": len(spec.processors), "maxvcpus": len(spec.processors)}
    settings |= {"memory": memory, "maxmem": memory}
    if pinned:
        settings["cpus"] = [format_processors((number,)) for number in spec.processors]
    if spec.cpu_quota is not None:
        settings["cap"] = max(1, round(spec.cpu_quota * 100))
    return settings


def text(settings: Mapping[str, Value]) -> str:
    """One line for each setting; ``NodeError`` for a value that xl's quotes cannot hold."""
    return "".join(f"{line}\n" for line in lines(settings))


def lines(settings: Mapping[str, Value]) -> list[str]:
    """The settings as lines, which ``xl create`` also accepts as words.

    >>> lines({"vcpus": 2, "cpus": ["0", "1"], "name": "a"})
    ['vcpus=2', 'cpus=["0", "1"]', 'name="a"']
    """
    return [f"{name}={_written(value)}" for name, value in settings.items()]


def _written(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    return f"[{', '.join(map(_quoted, value))}]"


def _quoted(value: str) -> str:
    """Quote it; xl's quotes end at the next one, and know a few escapes: values with either are refused."""
    if not value.isprintable() or any(letter in value for letter in '"\\'):
        raise NodeError(f"xl's configuration cannot hold {value!r}; choose another path or name")
    return json.dumps(value, ensure_ascii=False)


def _disk(path: Path, device: str, *, read_only: bool) -> str:
    """xl-disk-configuration(5); an emulated disk cannot be read-only, and gets a throw-away layer over the image."""
    kind, access = ("qcow2" if path.suffix == ".qcow2" else "raw"), ("ro" if read_only else "rw")
    return f"format={kind}, vdev={device}, access={access}, target={_plain(path)}"


def _plain(path: Path) -> str:
    if any(letter in str(path) for letter in ",\n") or str(path) != str(path).strip():
        raise NodeError(
            f"xl does not take {str(path)!r}: a comma or a space at its end; choose another folder"
        )
    return str(path)
