# SPDX-License-Identifier: Apache-2.0
"""Archives that attack whoever imports them: for each a function that makes its bytes, and what must be said of it."""

import functools
import gzip
import json
import lzma
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from typing import Any

from tests.image.image_example import HERE, Member, OciArchive, hardlink, sha256, symlink, tar_bytes

END = bytes(1024)
HUGE = 6 << 30
PIECE = 64 << 20
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e"
FILE = tar_bytes([Member("file", b"x")])


@functools.cache
def zeros(size: int) -> bytes:
    """So many of them, in 2 kB for each 64 MiB: frames that follow each other are one file (zstd(1))."""
    frame = subprocess.run(["zstd", "-c"], input=bytes(PIECE), capture_output=True, check=True, timeout=20)
    return frame.stdout * (size // PIECE)


def packed(plain: bytes) -> bytes:
    return subprocess.run(["zstd", "-c"], input=plain, capture_output=True, check=True, timeout=20).stdout


def header(kind: bytes = tarfile.REGTYPE, size: int = 0, name: str = "file", **facts: Any) -> bytes:
    information = tarfile.TarInfo(name)
    information.type, information.size = kind, size
    for fact, value in facts.items():
        setattr(information, fact, value)
    return information.tobuf(tarfile.GNU_FORMAT)


def padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 512)


def record(key: str, value: str) -> bytes:
    """A line of a pax header, which begins with its own length (pax(1))."""
    rest = f" {key}={value}\n".encode("utf-8", "surrogateescape")
    length = len(rest) + 1
    while len(str(length)) + len(rest) != length:
        length += 1
    return str(length).encode() + rest


def pax(content: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    return header(kind, len(content), "pax") + padded(content)


def with_facts(facts: Mapping[str, str], content: bytes = b"") -> bytes:
    """An archive with one file of which a pax header says this."""
    said = b"".join(record(key, value) for key, value in facts.items())
    return pax(said) + header(size=len(content)) + padded(content) + END


def old_sparse(size: int, more: bytes = b"") -> bytes:
    """GNU's older sparse format: map in the header from byte 386 on, and in blocks that follow it (tar's manual)."""
    block = bytearray(header(tarfile.GNUTYPE_SPARSE))
    block[386:482] = bytes(96)
    block[482] = 1 if more else 0
    block[483:495] = b"\x80" + size.to_bytes(11, "big")
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + more


def sparse_1_0(numbers: bytes) -> bytes:
    facts = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "10"}
    return pax(b"".join(record(key, value) for key, value in facts.items())) + header(size=512) + numbers


def endless_old_sparse() -> bytes:
    block = (b"%011o\0" % 512) * 42 + b"\1" + bytes(7)
    return packed(old_sparse(10, block * 20_000))


def keys_within_keys() -> bytes:
    """Each record says that it is 2 byte long, so that all that follows is the next one's key."""
    return pax(b"2 " * 500_000 + "\U0001f600=\n".encode()) + header() + END


def facts_for_all() -> bytes:
    pieces = [pax(record(f"key{number}", "v" * 1000), tarfile.XGLTYPE) for number in range(100)]
    return b"".join(pieces) + header() + END


def devices(name: str, kind: bytes, major: int, minor: int) -> bytes:
    return header(kind, 0, name, devmajor=major, devminor=minor, mode=0o666) + END


def three_gib_dictionary() -> bytes:
    alone = bytearray(lzma.compress(FILE, format=lzma.FORMAT_ALONE))
    alone[1:5] = (0xC0000000).to_bytes(4, "little")
    return bytes(alone)


def oci(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """An OCI layout whose index was changed."""
    archive = OciArchive(HERE)
    archive.add_layer([Member("file", b"x")])
    index = archive.index()
    return oci_bytes(json.dumps(change(index)).encode(), archive.blobs)


def oci_bytes(index: bytes, blobs: Mapping[str, bytes]) -> bytes:
    members = [Member("oci-layout", b"{}"), Member("index.json", index)]
    return tar_bytes([*members, *(Member(f"blobs/{k.replace(':', '/')}", v) for k, v in blobs.items())])


def with_digest(digest: object) -> bytes:
    return oci(lambda index: {"manifests": [{**index["manifests"][0], "digest": digest}]})


def blob_is_a_link() -> bytes:
    blob = sha256(b"of the host")
    members = [symlink(f"blobs/{blob.replace(':', '/')}", "/etc/hostname")]
    index = {"manifests": [{"digest": blob, "size": 11}]}
    return tar_bytes(
        [Member("oci-layout", b"{}"), Member("index.json", json.dumps(index).encode()), *members]
    )


def docker(manifest: object, *members: Member) -> bytes:
    return tar_bytes([Member("manifest.json", json.dumps(manifest).encode()), *members])


def many_layers() -> bytes:
    config = json.dumps({"rootfs": {"diff_ids": [sha256(FILE)] * 2000}}).encode()
    manifest = [{"Config": "config.json", "Layers": ["layer.tar"] * 2000}]
    return docker(manifest, Member("config.json", config), Member("layer.tar", FILE))


def hostile_layer(members: list[Member]) -> bytes:
    config = json.dumps({"rootfs": {"diff_ids": [sha256(tar_bytes(members))]}}).encode()
    layer = Member("layer.tar", tar_bytes(members))
    return docker([{"Config": "config.json", "Layers": ["layer.tar"]}], Member("config.json", config), layer)


NUMBER = "9" * 5000
BROKEN = "not a whole tar archive"
LONG_HEADER = "header of one file in it is longer than 1 MiB"

ARCHIVES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a pax header of 6 GiB": (lambda: packed(header(tarfile.XHDTYPE, HUGE)) + zeros(HUGE), LONG_HEADER),
    "facts for all of 6 GiB": (lambda: packed(header(tarfile.XGLTYPE, HUGE)) + zeros(HUGE), LONG_HEADER),
    "a name of 6 GiB": (lambda: packed(header(tarfile.GNUTYPE_LONGNAME, HUGE)) + zeros(HUGE), LONG_HEADER),
    "a target of 6 GiB": (lambda: packed(header(tarfile.GNUTYPE_LONGLINK, HUGE)) + zeros(HUGE), LONG_HEADER),
    "6 GiB after its end": (lambda: packed(FILE) + zeros(HUGE), "64 MiB and more follow its end"),
    "headers of headers": (lambda: pax(b"") * 1000 + header() + END, BROKEN),
    "keys within keys": (keys_within_keys, "takes more than 768 MiB of memory|not a whole tar"),
    "a hundred facts for all": (facts_for_all, "more than 64 facts"),
    "a length of 5,000 digits": (lambda: pax(f"{NUMBER} a=b\n".encode()) + header() + END, BROKEN),
    "a size below 0": (lambda: header(size=-1024) + END, "larger than|not a whole tar"),
    "a size below 0 by pax": (lambda: with_facts({"size": "-1024"}), "larger than|not a whole tar"),
    "a size of 1 PB": (lambda: header(size=1 << 50) + END, "unpacked it is larger than 256 GiB"),
    "a size of 5,000 digits": (
        lambda: with_facts({"size": "9" * 4000}),
        "unpacked it is larger than 256 GiB",
    ),
    "a sparse file of 8 EiB": (lambda: old_sparse(1 << 63) + END, "unpacked it is larger than 256 GiB"),
    "a sparse map without an end": (endless_old_sparse, LONG_HEADER),
    "a sparse map without an end, 1.0": (
        lambda: sparse_1_0(b"999999999\n" + b"1\n" * 1_000_000),
        LONG_HEADER,
    ),
    "a sparse map of 5,000 digits": (lambda: sparse_1_0(padded(f"1\n{NUMBER}\n0\n".encode())) + END, BROKEN),
    "a sparse map of words": (lambda: with_facts({"GNU.sparse.map": "a,b", "GNU.sparse.size": "5"}), BROKEN),
    "a sparse file without a size": (
        lambda: with_facts({"GNU.sparse.map": "0,5", "GNU.sparse.size": "x"}),
        BROKEN,
    ),
    "a time that is no number": (lambda: with_facts({"mtime": "nan"}), "time of 'file' is no time"),
    "a time without an end": (lambda: with_facts({"mtime": "-inf"}), "time of 'file' is no time"),
    "a time of 1e308": (lambda: with_facts({"mtime": "1e308"}), "time of 'file' is no time"),
    "an owner of 2^40": (lambda: with_facts({"uid": str(1 << 40)}), "owner of 'file' is no user"),
    "an owner of -1": (lambda: with_facts({"uid": "-1"}), "owner of 'file' is no user"),
    "a group of 2^32 - 1": (lambda: with_facts({"gid": str((1 << 32) - 1)}), "owner of 'file' is no user"),
    "an attribute without a name": (lambda: with_facts({"SCHILY.xattr.user.": "x"}), "cannot be unpacked"),
    "an attribute of 100 kB": (
        lambda: with_facts({"SCHILY.xattr.user.a": "x" * 100_000}),
        "cannot be unpacked at 'file'",
    ),
    "a name with a zero": (lambda: with_facts({"path": "a\0b"}), "leads out of it"),
    "a link to a zero": (
        lambda: pax(record("linkpath", "a\0b")) + header(tarfile.SYMTYPE, linkname="a") + END,
        BROKEN,
    ),
    "a name of 5,000 letters": (lambda: with_facts({"path": "n" * 5000}), "longer than 2048|name too long"),
    "a name of half a surrogate": (lambda: with_facts({"path": "\udced\udca0\udc80/.."}), "leads out of it"),
    "a name that a terminal obeys": (lambda: with_facts({"path": f"../{ESCAPES}"}), "leads out of it"),
    "1,500 folders in folders": (
        lambda: with_facts({"path": "d/" * 1500 + "f"}),
        "below more than 256 folders",
    ),
    "100,000 folders in folders": (
        lambda: with_facts({"path": "d/" * 100_000}),
        "below more than 256 folders",
    ),
    "folders below a link, and so on": (
        lambda: tar_bytes(
            [
                Member("d/" * 200),
                symlink("one", "d/" * 200),
                *(Member("one/" + "e/" * depth) for depth in range(1, 100)),
            ]
        ),
        "below more than 256 folders",
    ),
    "a disk of the host": (lambda: devices("dev/sda", tarfile.BLKTYPE, 8, 0), "'dev/sda' in it is a device"),
    "the host's memory": (lambda: devices("usr/null", tarfile.CHRTYPE, 1, 3), "'usr/null' in it is a device"),
    "a null that is a disk": (
        lambda: devices("dev/null", tarfile.CHRTYPE, 8, 0),
        "'dev/null' in it is a device",
    ),
    "a device through a link": (
        lambda: (
            header(tarfile.DIRTYPE, name="usr")
            + header(tarfile.SYMTYPE, name="dev", linkname="usr")
            + devices("dev/null", tarfile.CHRTYPE, 1, 3)
        ),
        "'usr/null' in it is a device",
    ),
    "a dictionary of 3 GiB": (three_gib_dictionary, "not whole: .*, says xz"),
    "a folder for a program": (
        lambda: tar_bytes([Member("opt/tare/bin/init/")]),
        "/opt/tare/bin/init is a folder",
    ),
    "Tare's folder as a link": (
        lambda: tar_bytes([symlink("opt/tare/bin", "/usr/bin")]),
        "/opt/tare/bin is not a directory",
    ),
    "a pipe for a mount point": (
        lambda: tar_bytes([Member("proc", kind=tarfile.FIFOTYPE)]),
        "/proc is not a directory",
    ),
    "manifest.json as a link": (
        lambda: tar_bytes([symlink("manifest.json", "/etc/passwd")]),
        "/manifest.json in it is a link",
    ),
    "index.json as a link": (
        lambda: tar_bytes([Member("oci-layout", b"{}"), symlink("index.json", "/proc/self/environ")]),
        "/index.json in it is a link",
    ),
    "oci-layout as a pipe": (
        lambda: tar_bytes([Member("oci-layout", kind=tarfile.FIFOTYPE), Member("index.json", b"{}")]),
        "/oci-layout in it is a link or a pipe",
    ),
    "a blob as a link": (blob_is_a_link, "it lacks 'blobs/sha256"),
    "a digest that climbs": (lambda: with_digest("sha256:../../../../etc/passwd"), "names a digest"),
    "a digest that a terminal obeys": (lambda: with_digest(f"sha256:{ESCAPES * 1000}"), "names a digest"),
    "a digest that is a number": (lambda: with_digest(5), "image archive is broken"),
    "an index that is deep": (
        lambda: oci_bytes(b"[" * 100_000, {}),
        "image archive is broken: .*RecursionError",
    ),
    "an index of 9 MiB": (lambda: oci_bytes(bytes(9 << 20), {}), "index.json is larger than 8 MiB"),
    "a number of 5,000 digits": (lambda: oci_bytes(NUMBER.encode(), {}), "image archive is broken"),
    "an index that is a list": (lambda: oci_bytes(b"[1]", {}), "image archive is broken"),
    "a configuration of the host's": (
        lambda: docker([{"Config": "/etc/passwd", "Layers": []}]),
        "it lacks '/etc/passwd'",
    ),
    "a configuration through a link": (
        lambda: docker([{"Config": "config", "Layers": []}], symlink("config", "../../../../etc/passwd")),
        "it lacks 'config'",
    ),
    "layers that are no list": (lambda: docker([{"Config": {}, "Layers": 5}]), "image archive is broken"),
    "2,000 layers": (many_layers, "2000 layers, of 512 at most"),
    "a layer with a device": (
        lambda: hostile_layer([Member("dev/mem", kind=tarfile.CHRTYPE)]),
        "'dev/mem' in it is a device",
    ),
    "a layer that links to the host": (
        lambda: hostile_layer([hardlink("shadow", "../../../../../../etc/shadow")]),
        "leads out of it",
    ),
    "half a layer": (
        lambda: gzip.compress(hostile_layer([Member("file", b"x" * 9000)]))[:-300],
        "not whole: .*, says gzip",
    ),
}
