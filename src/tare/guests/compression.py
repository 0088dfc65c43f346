# SPDX-License-Identifier: Apache-2.0
"""Unpacking of Linux kernels and modules: by the first bytes, not by the file's name."""

import bz2
import lzma
import zlib
from collections.abc import Callable

from tare.errors import NodeError
from tare.host import process
from tare.host.scratch import scratch_folder

_LIMIT_S = 120.0


def decompressed(content: bytes) -> bytes | None:
    """The unpacked content; bytes after the packed stream are ignored. ``None``: the packing is not known here.

    Raises ``NodeError`` when the stream is torn.
    """
    unpack = next((unpack for magic, unpack in _FORMATS.items() if content.startswith(magic)), None)
    if unpack is None:
        return None
    try:
        return unpack(content)
    except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise NodeError(
            f"a packed part of a kernel or a module is broken ({error}); get the file anew"
        ) from None


def _gzip(content: bytes) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)  # 16: with gzip's header
    return _whole(unpacker.decompress(content), ended=unpacker.eof)


def _bzip2(content: bytes) -> bytes:
    unpacker = bz2.BZ2Decompressor()
    return _whole(unpacker.decompress(content), ended=unpacker.eof)


def _xz(content: bytes) -> bytes:
    unpacker = lzma.LZMADecompressor()
    return _whole(unpacker.decompress(content), ended=unpacker.eof)


def _zstd(content: bytes) -> bytes:
    """Use zstd(1); Python's standard library reads the format only from version 3.14 on."""
    with scratch_folder("zstd") as folder:
        packed, unpacked = folder / "packed", folder / "unpacked"
        packed.write_bytes(content)
        argv = ["zstd", "--decompress", "--quiet", str(packed), "-o", str(unpacked)]
        process.run_checked(argv, timeout_s=_LIMIT_S)
        return unpacked.read_bytes()


def _whole(unpacked: bytes, *, ended: bool) -> bytes:
    if not ended:
        raise EOFError("it ends in its middle")
    return unpacked


_FORMATS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": _gzip,
    b"BZh": _bzip2,
    b"\xfd7zXZ\0": _xz,
    b"\x5d\0\0": _xz,  # the older format of lzma(1)
    b"\x28\xb5\x2f\xfd": _zstd,
}
