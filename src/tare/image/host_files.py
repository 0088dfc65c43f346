# SPDX-License-Identifier: Apache-2.0
"""A root filesystem of this host's own files: a shell, the usual tools, the system's Python, and their libraries.

Libraries are those that ``elf`` finds; each is also linked into the folder of the loader's own library, where every
loader looks without a cache. As root, only what all users of this host may read is taken.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tare.errors import NodeError
from tare.host import process
from tare.host.privileges import ordinary_user
from tare.image.elf import Files, Linked, needed_libraries

TOOLS = (
    *("sh", "bash", "env", "[", "basename", "cat", "chmod", "cp", "cut", "date", "dd", "df", "dirname", "du"),
    *("echo", "expr", "false", "head", "hostname", "id", "kill", "ln", "ls", "md5sum", "mkdir", "mkfifo"),
    *("mktemp", "mv", "nproc", "od", "paste", "printenv", "printf", "pwd", "readlink", "realpath", "rm"),
    *(
        "rmdir",
        "seq",
        "sha256sum",
        "sleep",
        "sort",
        "split",
        "stat",
        "sync",
        "tail",
        "tee",
        "test",
        "timeout",
    ),
    *(
        "touch",
        "tr",
        "true",
        "truncate",
        "tty",
        "uname",
        "uniq",
        "wc",
        "whoami",
        "xargs",
        "yes",
        "awk",
        "cmp",
    ),
    *(
        "diff",
        "find",
        "grep",
        "gzip",
        "ip",
        "mount",
        "ping",
        "ps",
        "sed",
        "setsid",
        "taskset",
        "tar",
        "umount",
    ),
)
LIBRARIES = (
    *("libatomic.so.1", "libgcc_s.so.1", "libgfortran.so.5", "libgomp.so.1", "libquadmath.so.0"),
    *("libstdc++.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "libresolv.so.2", "librt.so.1"),
    *("libutil.so.1", "libnss_files.so.2", "libz.so.1"),
)
"""What programs are most often linked with, or open without being linked with it."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3")
_NO_PYTHON = frozenset(
    {"dist-packages", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests", "turtledemo"}
)
"""Folders of Python's standard library that a program needs only for what is installed besides, or not at all."""
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_FILES = ("/etc/os-release", "/etc/protocols", "/etc/services")
_FOLDERS = ("/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8")
_WRITTEN = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_ASK_PYTHON = "import sysconfig; print(sysconfig.get_path('stdlib')); print(sysconfig.get_path('platstdlib'))"
_ASK_LIMIT_S = 20.0
_FIRST_LINE_BYTE = 256


@dataclass(frozen=True, slots=True)
class HostFiles(Files):
    """This host's files, each read once."""

    root: Path = Path("/")
    _read: dict[str, Linked | None] = field(default_factory=dict, compare=False)

    def linked(self, path: str) -> Linked | None:
        if path not in self._read:
            self._read[path] = Files.linked(self, path)
        return self._read[path]


@dataclass(slots=True)
class HostTree:
    """A root that is filled with files of this host."""

    root: Path
    host: Files = field(default_factory=HostFiles)
    made_of: dict[str, str] = field(default_factory=dict)
    """Path on this host → ``stamp``."""

    def fill(self) -> None:
        """Bring what every program may want."""
        self._merge()
        for name, text in _WRITTEN.items():
            self._folder(str(PurePosixPath("/", name).parent))
            (self.root / name).write_text(text)
            (self.root / name).chmod(0o644)
        for path in _FILES:
            self.put(path)
        for folder in _FOLDERS:
            self._put_folder(folder)
        for name in TOOLS:
            tool = shutil.which(name, path=PATH)
            if tool is not None:
                self.put_program(tool)
        self._put_usual_libraries()
        if python := next(filter(os.path.exists, _PYTHONS), None):
            self._put_python(python)

    def put_program(self, path: str, library_path: Sequence[str] = (), *, itself: bool = True) -> None:
        """Bring it, unless not ``itself``, with all that it is linked with; a script with its interpreters."""
        if itself and self.put(path) is None:
            return
        for interpreter in interpreters(path):
            if interpreter != path:
                self.put_program(interpreter, library_path)
        self.put_needs(path, library_path)

    def put_needs(self, path: str, library_path: Sequence[str] = ()) -> None:
        """Bring what an ELF file is linked with, which itself may be elsewhere."""
        linked = self.host.linked(path)
        if linked is None:
            return
        loader = linked.interpreter or self._usual_loader()
        if loader is None or self.put(loader) is None:
            return
        folder = str(PurePosixPath(self.host.real(loader) or loader).parent)
        for name, real in needed_libraries(path, self.host, library_path).items():
            if real is not None and self.put(real) is not None:
                self._link(f"{folder}/{name}", real)
                self._put_for_newer_processors(name, real, folder)

    def put(self, path: str) -> str | None:
        """Bring a file, and a link at ``path`` where that is one; returns its real path, ``None`` if it stays out."""
        real = self.host.real(path)
        if real is None or not is_open(Path(real)):
            return None
        if real not in self.made_of:
            self.made_of[real] = stamp(real)
            self._folder(str(PurePosixPath(real).parent))
            target = self.root / real.lstrip("/")
            shutil.copyfile(real, target)
            shutil.copystat(real, target)  # Python compares its compiled files with their sources' times
            target.chmod(stat.S_IMODE(Path(real).stat().st_mode) & 0o755)
        self._link(path, real)
        return real

    def _merge(self) -> None:
        """Make /bin and its like links where they are links on this host."""
        for name in _MERGED:
            place = Path("/", name)
            if place.is_symlink():
                target = self.host.real(str(place)) or f"/usr/{name}"
                self._folder(target)
                (self.root / name).symlink_to(target.lstrip("/"))

    def _link(self, path: str, real: str) -> None:
        """Let ``path`` lead to ``real``, unless something is there."""
        place = PurePosixPath(path)
        parent = self.host.real(str(place.parent)) or str(place.parent)
        self._folder(parent)
        inside = self.root / parent.lstrip("/") / place.name
        if not os.path.lexists(inside):
            inside.symlink_to(real)

    def _folder(self, path: str) -> None:
        place = self.root
        for part in PurePosixPath(path).parts[1:]:
            place /= part
            if not place.exists():
                place.mkdir()
                place.chmod(0o755)

    def _put_folder(self, folder: str) -> None:
        for path in _files_below(folder):
            self.put(path)

    def _put_usual_libraries(self) -> None:
        loader = self._usual_loader()
        own = str(PurePosixPath(self.host.real(loader) or loader).parent) if loader else "/usr/lib"
        for name in LIBRARIES:
            places = (f"{folder}/{name}" for folder in (own, f"/usr{own}", "/usr/lib64", "/usr/lib"))
            path = next((place for place in places if self.host.linked(place)), None)
            if path is not None and self.put(path) is not None:
                self.put_needs(path)

    def _usual_loader(self) -> str | None:
        shell = self.host.linked("/bin/sh")
        return None if shell is None else shell.interpreter

    def _put_for_newer_processors(self, name: str, real: str, folder: str) -> None:
        """The loader prefers these (ld.so(8), glibc-hwcaps)."""
        above = f"{PurePosixPath(real).parent}/glibc-hwcaps"
        for level in self.host.names(above):
            if (better := self.put(f"{above}/{level}/{name}")) is not None:
                self._link(f"{folder}/glibc-hwcaps/{level}/{name}", better)

    def _put_python(self, python: str) -> None:
        """The system's interpreter and its standard library, without what is installed besides."""
        try:
            asked = process.run([python, "-I", "-S", "-c", _ASK_PYTHON], timeout_s=_ASK_LIMIT_S)
        except NodeError:
            return
        if asked.code:
            return
        self.put_program(python)
        for folder in dict.fromkeys(asked.stdout.split()):
            for path in _files_below(folder, _NO_PYTHON):
                if self.put(path) is not None and ".so" in PurePosixPath(path).suffixes:
                    self.put_needs(path)


def stamp(path: str) -> str:
    """What changes whenever the file does, as far as can be seen without reading it; empty where there is none."""
    try:
        status = Path(path).stat()
    except OSError:
        return ""
    return f"{status.st_size} byte, {status.st_mtime_ns} ns"


def is_unchanged(made_of: Mapping[str, str]) -> bool:
    """Whether this host's files still are those that a tree was made of."""
    return all(stamp(path) == kept for path, kept in made_of.items())


def interpreters(path: str) -> list[str]:
    """The programs of this host that a script's first line names (execve(2)); empty for no script."""
    try:
        with Path(path).open("rb") as file:
            line = file.read(_FIRST_LINE_BYTE).split(b"\n")[0]
    except OSError:
        return []
    words = line[2:].decode(errors="replace").split() if line.startswith(b"#!") else []
    if not words or not words[0].startswith("/"):
        return []
    if PurePosixPath(words[0]).name != "env":
        return words[:1]
    named = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    whole = shutil.which(named, path=PATH) if named else None
    return [words[0], *([whole] if whole else [])]


def is_open(path: Path) -> bool:
    """Whether it is a file that this user may read; for root, one that every user of this host may read."""
    if not path.is_file():
        return False
    if ordinary_user():
        return os.access(path, os.R_OK)
    folders = all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents)
    return bool(folders and path.stat().st_mode & stat.S_IROTH)


def _files_below(folder: str, left_out: frozenset[str] = frozenset()) -> Iterator[str]:
    """Paths of the regular files, in order; compiled Python only as it is usually loaded."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name not in left_out and not name.startswith("config-")
        )
        for name in sorted(names):
            if ".opt-" not in name and not name.endswith(".a"):
                yield f"{place}/{name}"
