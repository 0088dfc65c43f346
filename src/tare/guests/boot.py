# SPDX-License-Identifier: Apache-2.0
"""The settings for the guest's first process: the text of /boot.conf (native/guest), one setting per line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.errors import NodeError
from tare.nodes.provider import WORK_DIRECTORY

MODULES_FOLDER = "/modules"
"""Where the initramfs holds the kernel's modules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtioChannel:
    """A port of a virtio serial device, by the name that the host gave it."""

    name: str

    def words(self) -> list[str]:
        return ["virtio", self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class SerialChannel:
    """A serial line, by its device in the guest, such as ``/dev/ttyS1``."""

    device: str

    def words(self) -> list[str]:
        return ["serial", self.device]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLayer:
    """The guest's writes stay in its memory."""

    size_byte: int

    def words(self) -> list[str]:
        return ["tmpfs", str(self.size_byte)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskLayer:
    """The guest's writes go to a second disk, an ext4 file system (``disk.layer_disk``)."""

    device: str

    def words(self) -> list[str]:
        return [self.device, "ext4"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestBind:
    """A directory of the host that the hypervisor offers under ``tag``, over virtio."""

    tag: str
    target: str
    """Where the guest sees it."""
    writable: bool = False
    kind: str = "9p"
    """Or ``virtiofs``."""

    def words(self) -> list[str]:
        return [
            "bind" if self.kind == "9p" else self.kind,
            self.tag,
            self.target,
            "rw" if self.writable else "ro",
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """All settings that a guest gets as it boots."""

    channel: VirtioChannel | SerialChannel
    modules: Sequence[Path]
    """In load order (``kernel.needed_modules``); only their file names matter here."""
    root_device: str
    """The image's disk as the guest names it, such as ``/dev/vda``; an erofs file system."""
    layer: MemoryLayer | DiskLayer
    shm_byte: int
    name: str
    """The host name."""
    address: str | None = None
    """In CIDR notation, of the one interface beside the loopback."""
    gateway: str | None = None
    binds: Sequence[GuestBind] = ()
    work: str = WORK_DIRECTORY

    def text(self) -> str:
        """The whole of /boot.conf; ``NodeError`` when a value holds a character that would end it early."""
        return "".join(f"{_line(words)}\n" for words in self._settings())

    def _settings(self) -> Iterator[list[str]]:
        yield ["channel", *self.channel.words()]
        yield from (["module", f"{MODULES_FOLDER}/{module.name}"] for module in self.modules)
        yield ["root", self.root_device, "erofs"]
        yield ["layer", *self.layer.words()]
        yield ["shm", str(self.shm_byte)]
        yield ["name", self.name]
        if self.address is not None:
            yield ["address", self.address]
        if self.gateway is not None:
            yield ["gateway", self.gateway]
        yield from (bind.words() for bind in self.binds)
        yield ["work", self.work]


def _line(words: Sequence[str]) -> str:
    for word in words:
        if not word or not word.isprintable() or any(letter.isspace() for letter in word):
            raise NodeError(
                f"a guest cannot be told {words[0]} {word!r}: empty, or with a space or a control character in it; "
                "choose another name or path"
            )
    return " ".join(words)
