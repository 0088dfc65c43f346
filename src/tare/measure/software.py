# SPDX-License-Identifier: Apache-2.0
"""Which software the host's own build of a command and the image's differ in, by reading both files' libraries."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tare.foreign import one_line
from tare.image.elf import Files, needed_libraries
from tare.image.store import Image
from tare.measure.context import MINIMAL_VARIABLES
from tare.plan.campaign import Campaign
from tare.plan.written import parse_bind
from tare.records import HOST_FILES, OptionValue, Software, SoftwarePart, Workload

_KINDS = {
    "C library": re.compile(r"(libc\.so\.6|libc\.musl-.*|ld-.*|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1)"),
    "libm": re.compile(r"(libm|libimf|libsvml|libmvec)\.so.*"),
    "BLAS and LAPACK": re.compile(
        r"lib(open|c|gsl|flexi)?(blas|lapack|mkl|blis|atlas|armpl|nvpl|sci_)\w*.*\.so.*"
    ),
    "MPI": re.compile(r"lib(mpi|mpich|pmpi|mpicxx)\w*\.so.*"),
    "compiler's run time": re.compile(
        r"lib(gomp|omp|iomp5|gcc_s|gfortran|quadmath|stdc\+\+|c\+\+|flang).*\.so.*"
    ),
}
_OTHER = "other libraries"
_VERSION = re.compile(rb"GNU C Library[^\n]{0,80} version ([0-9.]+[0-9])")
_SHEBANG = re.compile(rb"#!\s*(\S+)(?:\s+(\S+))?")
_PIECE_BYTE = 1 << 20
_SHORT = 12
_MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class _Side:
    """The host or the image, as a command sees it."""

    files: Files
    variables: Mapping[str, str]

    def program(self, name: str) -> str | None:
        """The real path of a command's file; ``None`` if there is none."""
        candidates = [name] if "/" in name else [f"{folder}/{name}" for folder in self.folders("PATH")]
        return next((real for each in candidates if (real := self.files.real(each)) not in {None, "/"}), None)

    def folders(self, variable: str) -> list[str]:
        return [part for part in self.variables.get(variable, "").split(":") if part.startswith("/")]

    def digest(self, path: str) -> tuple[str, str]:
        """Of a file: SHA-256, and what it says of its version; empty where it cannot be read."""
        summed, version, last = hashlib.sha256(), "", b""
        with self.files.opened(path) as opened:
            if opened is None:
                return "", ""
            while piece := opened.read(_PIECE_BYTE):
                summed.update(piece)
                match = None if version else _VERSION.search(last + piece)
                version, last = match[1].decode() if match else version, piece[-200:]
        return summed.hexdigest(), version


def compared_software(campaign: Campaign, image: Image) -> tuple[Software, ...]:
    """One for each command of the campaign that both sides have; empty if the host's own files take no part."""
    environment = next((each for each in campaign.environments if each.technology == HOST_FILES), None)
    if environment is None:
        return ()
    bound = tuple(parse_bind(text).path for text in campaign.binds)
    commands = (workload for workload in campaign.workloads if workload.kind == "command")
    compared = (
        _compared(
            workload,
            _Side(Files(Path("/")), _variables(environment.options, workload.options)),
            _Side(Files(image.root, bound), _image_variables(workload)),
        )
        for workload in commands
    )
    return tuple(filter(None, compared))


def _variables(*stated: Mapping[str, OptionValue]) -> dict[str, str]:
    """Later ones come first."""
    entries = [entry for options in stated for entry in _list(options.get("variables"))]
    return {**MINIMAL_VARIABLES, **dict(entry.split("=", 1) for entry in entries)}


def _image_variables(workload: Workload) -> dict[str, str]:
    return _variables({"variables": _list(workload.options.get("image_variables"))}, workload.options)


def _list(value: OptionValue | None) -> list[str]:
    return value if isinstance(value, list) else []


def _compared(workload: Workload, host: _Side, image: _Side) -> Software | None:
    name = next(iter(_list(workload.options.get("argv"))), "")
    if not name.startswith("/") and "/" in name:
        name = str(PurePosixPath(str(workload.options.get("directory") or "/"), name))
    theirs, ours = host.program(name), image.program(name)
    if theirs is None or ours is None:
        return None
    parts = [_part("program", [theirs], [ours], host, image), *_of_files(theirs, ours, host, image)]
    return Software(workload=workload.name, program=name, parts=tuple(parts))


def _of_files(theirs: str, ours: str, host: _Side, image: _Side) -> Iterator[SoftwarePart]:
    """The compilers, and each kind of library that either side needs."""
    loaded = [(side, _loaded(side, path)) for side, path in ((host, theirs), (image, ours))]
    compilers = [_compilers(side, path) for side, path in loaded]
    if any(compilers):
        yield SoftwarePart(
            label="compiler", host=compilers[0], image=compilers[1], same=compilers[0] == compilers[1]
        )
    libraries = [needed_libraries(path, side.files, side.folders("LD_LIBRARY_PATH")) for side, path in loaded]
    for label in (*_KINDS, _OTHER):
        here, there = (
            [place for name, place in own.items() if place and _kind(name) == label] for own in libraries
        )
        if here or there:
            yield _part(label, here, there, host, image)
    missing = [[name for name, place in own.items() if place is None] for own in libraries]
    if any(missing):
        said = [_joined(names) for names in missing]
        yield SoftwarePart(label="not found", host=said[0], image=said[1], same=missing[0] == missing[1])


def _loaded(side: _Side, path: str) -> str:
    """The program itself, or for a script its interpreter: libraries are those that are loaded first."""
    with side.files.opened(path) as opened:
        match = None if opened is None else _SHEBANG.match(opened.read(256))
    if match is None:
        return path
    words = [word.decode(errors="replace") for word in match.groups() if word]
    name = words[1] if words[0].endswith("/env") and len(words) > 1 else words[0]
    return side.program(name) or path


def _compilers(side: _Side, path: str) -> str | None:
    linked = side.files.linked(path)
    return _joined([one_line(text) for text in linked.compilers]) if linked is not None else None


def _kind(library: str) -> str:
    return next((label for label, pattern in _KINDS.items() if pattern.fullmatch(library)), _OTHER)


def _part(label: str, theirs: Sequence[str], ours: Sequence[str], host: _Side, image: _Side) -> SoftwarePart:
    """Same if the same files, byte for byte, are on both sides, wherever they lie."""
    there, here = ({path: host.digest(path) for path in theirs}, {path: image.digest(path) for path in ours})
    digests = [{digest for digest, _ in side.values()} for side in (there, here)]
    differing = digests[0] ^ digests[1]
    return SoftwarePart(
        label=label,
        host=_described(there, differing),
        image=_described(here, differing),
        same=not differing and "" not in digests[0],
    )


def _described(files: Mapping[str, tuple[str, str]], differing: set[str]) -> str | None:
    """The differing ones, or all if none differ: name, version where it is known, and the digest's beginning."""
    shown = {path: seen for path, seen in files.items() if seen[0] in differing} or files
    texts = [
        f"{one_line(PurePosixPath(path).name)}{f' {version}' if version else ''} ({_short(digest)})"
        for path, (digest, version) in sorted(shown.items())
    ]
    return _joined(texts)


def _joined(texts: Iterable[str]) -> str | None:
    listed = list(texts)
    left = len(listed) - _MOST_SHOWN
    shown = [*listed[:_MOST_SHOWN], *([f"{left} more"] if left > 0 else [])]
    return ", ".join(shown) or None


def _short(digest: str) -> str:
    return f"sha256 {digest[:_SHORT]}" if digest else "cannot be read"
