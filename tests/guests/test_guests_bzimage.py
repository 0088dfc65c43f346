# SPDX-License-Identifier: Apache-2.0
import bz2
import gzip
import lzma
import subprocess
from collections.abc import Callable

import pytest
from tests.guests.kernel_example import OUTPUTS, RELEASE, bzimage, elf

from tare.errors import NodeError
from tare.guests.bzimage import boot_image, has_pvh_entry
from tare.guests.compression import decompressed

REAL_LENGTH_BYTE = 8_247_232
"""Of the whole file whose head is recorded."""


def zstd(content: bytes) -> bytes:
    return subprocess.run(["zstd", "-q"], input=content, capture_output=True, check=True, timeout=20).stdout


def lzma_alone(content: bytes) -> bytes:
    return lzma.compress(content, lzma.FORMAT_ALONE)


PACKERS = [gzip.compress, bz2.compress, lzma.compress, lzma_alone, zstd]


@pytest.mark.parametrize("pack", PACKERS)
def test_the_elf_file_in_a_bzimage_is_found_however_it_is_packed(pack: Callable[[bytes], bytes]) -> None:
    inner = elf()
    image = boot_image(bzimage(pack(inner), unpacked_byte=len(inner)))
    assert (image.release, image.direct) == (RELEASE, True)
    assert image.content == inner


@pytest.mark.parametrize("pack", PACKERS)
def test_a_torn_stream_is_an_error_and_not_half_a_kernel(pack: Callable[[bytes], bytes]) -> None:
    whole = pack(elf())
    with pytest.raises(NodeError):
        decompressed(whole[: len(whole) // 2])


def test_a_kernel_packed_in_another_way_unpacks_itself() -> None:
    content = bzimage(b"\x02\x21\x4c\x18 lz4", unpacked_byte=1)
    image = boot_image(content)
    assert (image.content, image.direct, image.release) == (content, False, RELEASE)


def test_a_kernel_without_a_pvh_entry_unpacks_itself() -> None:
    inner = elf(note_type=17)
    content = bzimage(gzip.compress(inner), unpacked_byte=len(inner))
    assert not boot_image(content).direct


def test_a_kernel_too_old_to_say_where_its_payload_is_unpacks_itself() -> None:
    inner = elf()
    content = bzimage(gzip.compress(inner), unpacked_byte=len(inner), version=0x207)
    assert boot_image(content).content == content


def test_the_head_of_a_real_kernel_says_its_release_and_where_its_payload_is() -> None:
    head = gzip.decompress((OUTPUTS / "bzimage-head.gz").read_bytes())
    image = boot_image(head.ljust(REAL_LENGTH_BYTE, b"\0"))
    assert (image.release, image.direct) == (RELEASE, False)


def test_a_kernel_that_is_cut_short_is_said_to_be() -> None:
    head = gzip.decompress((OUTPUTS / "bzimage-head.gz").read_bytes())
    with pytest.raises(NodeError, match="cut short"):
        boot_image(head)


def test_a_payload_of_another_length_than_it_names_is_refused() -> None:
    inner = elf()
    with pytest.raises(NodeError, match="length"):
        boot_image(bzimage(lzma.compress(inner), unpacked_byte=len(inner) + 1))


def test_an_elf_kernel_is_taken_as_it_is() -> None:
    image = boot_image(elf(release="6.6.1-own"))
    assert (image.release, image.direct, image.content) == ("6.6.1-own", True, elf(release="6.6.1-own"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no Linux kernel"),
        (b"#!/bin/sh\n" * 100, "no Linux kernel"),
        (elf(note_type=17), "CONFIG_PVH"),
        (elf().replace(b"Linux version", b"Other version"), "CONFIG_PVH"),
        (bzimage(b"", unpacked_byte=0).replace(b"HdrS", b"...."), "does not say its release"),
        (bzimage(b"", unpacked_byte=0), "cut short"),
    ],
    ids=["empty", "script", "no-entry", "no-linux", "no-magic", "no-payload"],
)
def test_what_a_guest_cannot_start_is_refused_with_the_reason(content: bytes, words: str) -> None:
    with pytest.raises(NodeError, match=words):
        boot_image(content)


@pytest.mark.parametrize("length", [0, 5, 19, 40, 63, 70, 100, 119, 125])
def test_a_torn_elf_file_has_no_entry(length: int) -> None:
    assert has_pvh_entry(elf())
    assert not has_pvh_entry(elf()[:length])
