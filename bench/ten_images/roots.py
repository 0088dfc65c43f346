# SPDX-License-Identifier: Apache-2.0
"""What the images are made of: Debian roots of three releases, and small programs compiled against their libraries."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.ten_images.forms import run

HERE = Path(__file__).parent
_BUILT: dict[str, tuple[str, str, str]] = {
    "parts": ("bookworm", "extract", "musl-dev,busybox-static,libmpich-dev"),
    "bookworm": ("bookworm", "essential", ""),
    "bullseye": ("bullseye", "essential", ""),
    "trixie": ("trixie", "essential", "openmpi-bin"),
    "mpich": ("bookworm", "essential", "mpich"),
}
"""Name → release, mmdebstrap's variant, packages. ``parts`` is a quarry of headers and libraries, no image."""
_TRIPLE = f"{os.uname().machine}-linux-gnu"
_MUSL = f"{os.uname().machine}-linux-musl"
_LOADER = f"ld-musl-{os.uname().machine}.so.1"
_OPTIONS = ("--mode=root", "--format=directory", "--skip=check/qemu", "--dpkgopt=force-unsafe-io")


@dataclass(frozen=True, slots=True)
class Workshop:
    """A folder with the roots, which stay, and the images, which are made anew."""

    folder: Path

    def built(self, name: str) -> Path:
        root = self.folder / "roots" / name
        if not root.is_dir():
            _build(name, root)
        return root

    def copy(self, name: str, image: str) -> Path:
        """A copy of a root for one image, without what it need not carry."""
        target = self.empty(image)
        run("cp", "-a", "--reflink=auto", f"{self.built(name)}/.", target)
        for folder in (
            "dev",
            "proc",
            "sys",
            "usr/share/doc",
            "usr/share/man",
            "var/cache/apt",
            "var/lib/apt",
        ):
            shutil.rmtree(target / folder, ignore_errors=True)
        return target

    def empty(self, image: str) -> Path:
        target = self.folder / "made" / image
        target.mkdir(parents=True)
        return target

    def compiled(self, source: str, target: Path, *options: str | Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        run("gcc", "-O1", HERE / source, "-o", target, *options)

    def vendor(self, folder: Path) -> None:
        """A library, and a program that needs it, in folders that no loader and no shell searches by itself."""
        library = folder / "opt/vendor/lib/libvendor.so"
        library.parent.mkdir(parents=True)
        run(
            "gcc", "-shared", "-x", "c", "-", "-o", library, stdin=b"int vendor_answer(void) { return 42; }\n"
        )
        linked = (f"-L{library.parent}", "-lvendor", "-DVENDOR")
        self.compiled("as_stated.c", folder / "opt/vendor/bin/as-stated", *linked)

    def with_musl(self, target: Path) -> None:
        """A program that is linked to musl as Alpine's are."""
        parts = self.built("parts")
        libraries = parts / "usr/lib" / _MUSL
        words = (
            *("-nostdinc", "-isystem", parts / "usr/include" / _MUSL, "-nostdlib", "-no-pie"),
            *(f"-Wl,--dynamic-linker=/lib/{_LOADER}", libraries / "crt1.o", libraries / "crti.o"),
            *(f"-L{parts}/lib/{_MUSL}", "-lc", libraries / "crtn.o"),
        )
        self.compiled("as_stated.c", target, *words)

    def musl_loader(self, root: Path) -> None:
        (root / "lib").mkdir(parents=True, exist_ok=True)
        shutil.copy(self.built("parts") / "lib" / _MUSL / "libc.so", root / "lib" / _LOADER)

    def busybox(self, root: Path) -> None:
        """The root of a small distribution: one static program under many names."""
        for folder in ("bin", "etc", "tmp"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "tmp").chmod(0o1777)
        shutil.copy(self.built("parts") / "bin/busybox", root / "bin/busybox")
        for name in ("sh", "ls", "cat", "env", "id", "true"):
            (root / "bin" / name).symlink_to("busybox")

    def with_mpich(self, target: Path) -> None:
        parts = self.built("parts") / "usr"
        words = (f"-I{parts}/include/{_TRIPLE}/mpich", f"-L{parts}/lib/{_TRIPLE}", "-lmpich")
        self.compiled("ranks.c", target, *words, "-Wl,--allow-shlib-undefined")

    def with_open_mpi(self, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        run("mpicc.openmpi", "-O1", HERE / "ranks.c", "-o", target)


def _build(name: str, root: Path) -> None:
    release, variant, packages = _BUILT[name]
    unfinished = root.with_name(f"{name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    unfinished.chmod(0o755)
    own = [f"--variant={variant}", *([f"--include={packages}"] if packages else [])]
    run("mmdebstrap", *_OPTIONS, *own, release, unfinished)
    unfinished.rename(root)
