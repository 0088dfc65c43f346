# SPDX-License-Identifier: Apache-2.0
"""A guest's devices in QEMU's words and in the guest's: paravirtual ones, or devices like those of real machines."""

from collections.abc import Iterator
from dataclasses import dataclass

from tare.environments.qemu.console import LOG
from tare.environments.qemu.options import BindWay, Devices, QemuOptions, StartWay
from tare.guests.boot import SerialChannel, VirtioChannel
from tare.guests.channel import DESCRIPTOR

PORT = "tare"
"""The channel's name among the guest's virtio ports."""
CHANNEL = f"socket,id=channel,fd={DESCRIPTOR}"
"""The host's end of the channel, which the keeper holds."""
GENERATION = "vmgenid"
"""A device, and its module, that informs a kernel that it was restored, so that it draws new random numbers."""
_SERIAL_LINE = "/dev/ttyS1"
_CONSOLE = "isa-serial,chardev=console,index=0"
_BIND = {BindWay.NINE_P: ("9p", "9pnet_virtio"), BindWay.VIRTIOFS: ("virtiofs",)}
"""The modules for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The devices that a guest needs besides its image's disk and its channel."""

    link: bool
    layer_disk: bool
    binds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSet:
    """One of the two kinds."""

    options: QemuOptions

    @property
    def paravirtual(self) -> bool:
        return self.options.devices is Devices.PARAVIRTUAL

    @property
    def channel(self) -> VirtioChannel | SerialChannel:
        return VirtioChannel(name=PORT) if self.paravirtual else SerialChannel(device=_SERIAL_LINE)

    def disk_name(self, number: int) -> str:
        """The guest's name for its disk of this number, from 0.

        It is by port: ATA disks get their letters in the order in which they happen to be ready.
        """
        if self.paravirtual:
            return f"/dev/vd{'ab'[number]}"
        return f"/sys/class/scsi_device/{number}:0:0:0/device/block"

    def disk_drivers(self) -> set[str]:
        """The drivers in the guest, one of which must carry the disk."""
        if self.paravirtual:
            return {"virtio_blk"}
        return {"ahci"} if self.options.is_q35 else {"ata_piix"}

    @property
    def link_driver(self) -> str:
        return "virtio_net" if self.paravirtual else "e1000"

    def modules(self, needs: Needs) -> list[str]:
        """The modules that the guest's kernel loads, without their own dependencies."""
        names = ["virtio_pci", "virtio_blk", "virtio_console"]
        if not self.paravirtual:
            names = ["ahci" if self.options.is_q35 else "ata_piix", "sd_mod"]
        names += ["erofs", "overlay"]
        names += [self.link_driver] if needs.link else []
        names += ["ext4"] if needs.layer_disk else []
        names += [GENERATION] if self.options.start is StartWay.SNAPSHOT else []
        return [*names, *(_BIND[self.options.share] if needs.binds else ())]

    def words(self, needs: Needs, hardware_address: str) -> Iterator[str]:
        """QEMU's options -device and what they name, except for the back ends of disks, network and binds."""
        yield from ("-chardev", f"file,id=console,path={LOG}", "-device", _CONSOLE)
        yield from ("-chardev", CHANNEL)
        yield from self._channel_words()
        yield from self._disk_words("image", 0)
        if needs.layer_disk:
            yield from self._disk_words("layer", 1)
        if needs.link:
            model = "virtio-net-pci" if self.paravirtual else "e1000"
            yield from ("-device", f"{model},netdev=link,mac={hardware_address}")
        for number in range(needs.binds):
            yield from ("-device", self._bind_device(f"bind{number}"))
        if self.options.start is StartWay.SNAPSHOT:
            yield from ("-device", f"{GENERATION},guid=auto")

    def _channel_words(self) -> list[str]:
        if self.paravirtual:
            port = f"virtserialport,chardev=channel,name={PORT}"
            return ["-device", "virtio-serial-pci", "-device", port]
        return ["-device", "isa-serial,chardev=channel,index=1"]

    def _bind_device(self, tag: str) -> str:
        if self.options.share is BindWay.VIRTIOFS:
            return f"vhost-user-fs-pci,chardev={tag},tag={tag}"
        return f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"

    def _disk_words(self, drive: str, number: int) -> list[str]:
        if self.paravirtual:
            return ["-device", f"virtio-blk-pci,drive={drive}"]
        return ["-device", f"ide-hd,drive={drive},bus=ide.{number}"]
