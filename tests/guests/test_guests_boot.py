# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.guests.boot import Boot, DiskLayer, GuestBind, MemoryLayer, SerialChannel, VirtioChannel

LEAST = Boot(
    channel=VirtioChannel(name="tare"),
    modules=(),
    root_device="/dev/vda",
    layer=MemoryLayer(size_byte=1 << 28),
    shm_byte=1 << 26,
    name="tare-1",
)


def test_a_guest_is_told_no_more_than_it_needs() -> None:
    assert LEAST.text() == (
        "channel virtio tare\n"
        "root /dev/vda erofs\n"
        "layer tmpfs 268435456\n"
        "shm 67108864\n"
        "name tare-1\n"
        "work /mnt/tare\n"
    )


def test_a_guest_is_told_all_that_it_can_be_told_one_setting_a_line() -> None:
    boot = replace(
        LEAST,
        channel=SerialChannel(device="/dev/ttyS1"),
        modules=(Path("/somewhere/kernel/virtio.ko"), Path("/elsewhere/virtio_blk.ko")),
        layer=DiskLayer(device="/dev/vdb"),
        address="198.18.0.10/16",
        gateway="10.0.2.2",
        binds=(
            GuestBind(tag="bind0", target="/data"),
            GuestBind(tag="bind1", target="/scratch", writable=True),
            GuestBind(tag="bind2", target="/shared", writable=True, kind="virtiofs"),
        ),
        work="/work",
    )
    assert boot.text().splitlines() == [
        "channel serial /dev/ttyS1",
        "module /modules/virtio.ko",
        "module /modules/virtio_blk.ko",
        "root /dev/vda erofs",
        "layer /dev/vdb ext4",
        "shm 67108864",
        "name tare-1",
        "address 198.18.0.10/16",
        "gateway 10.0.2.2",
        "bind bind0 /data ro",
        "bind bind1 /scratch rw",
        "virtiofs bind2 /shared rw",
        "work /work",
    ]


@pytest.mark.parametrize("value", ["", "a b", "a\nroot /dev/sda ext4", "a\tb", "a\0b", "a\u00a0b"])
def test_a_value_that_would_be_read_as_more_than_one_is_refused(value: str) -> None:
    with pytest.raises(NodeError, match="a guest cannot be told bind"):
        replace(LEAST, binds=(GuestBind(tag="bind0", target=value),)).text()


def test_a_folder_with_letters_of_any_language_can_be_bound() -> None:
    assert "bind b /žluťoučký ro\n" in replace(LEAST, binds=(GuestBind(tag="b", target="/žluťoučký"),)).text()
