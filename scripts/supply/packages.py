# SPDX-License-Identifier: Apache-2.0
"""`python -m scripts.supply.packages`, in the repository: a .deb and an .rpm for each processor, in build/dist.

Sources: deb-control(5), deb-postinst(5), rpm-spec(5). The same wheel and the same tools give the same bytes.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from scripts.supply.contents import ABOUT, HOME, PYTHONS, STAGE, Contents, stage
from scripts.supply.wheel import BUILDERS, RESULT
from tare.image.recipe import SOURCE_DATE_EPOCH

LIMIT_S = 600
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
TOOLS = {"dpkg-deb": "dpkg", "rpmbuild": "rpm"}
AFTER = f"""for python in /{HOME}/bin/python3.*; do
    [ ! -x "$python" ] || "$python" -m compileall -q /{HOME}/lib/packages >/dev/null || true
done
"""
"""An ordinary user cannot keep what Python compiles, which without this takes longer than most commands."""
BEFORE_REMOVAL = f"find /{HOME}/lib/packages -depth -name __pycache__ -exec rm -rf {{}} +\n"
OLDEST, AFTER_NEWEST = PYTHONS[0], f"3.{int(PYTHONS[-1].partition('.')[2]) + 1}"
LIBC = "2.28"
USED = ("bubblewrap", "util-linux")
CONTROL = """Package: tare
Version: {version}
Architecture: {architecture}
Maintainer: The authors of Tare <tare@localhost>
Section: science
Priority: optional
Installed-Size: {size_kib}
Depends: python3 (>= {oldest}), python3 (<< {after_newest}), libc6 (>= {libc})
Recommends: {used}
Suggests: mmdebstrap, podman | docker.io, iproute2
Description: {summary}
 Tare runs the same program under the same limits natively and in containers or
 virtual machines, in randomized blocks, and says what each costs.
"""
SPEC = """Name: tare
Version: {version}
Release: 1
Summary: {summary}
License: Apache-2.0 AND BSD-3-Clause AND MIT AND ISC AND PSF-2.0 AND LGPL-2.1-or-later
AutoReqProv: no
Requires: (python3 >= {oldest} or {pythons})
Requires: glibc >= {libc}
{recommends}
{bundled}
%description
Tare runs the same program under the same limits natively and in containers or
virtual machines, in randomized blocks, and says what each costs.

%install
cp -a "{root}/." %{{buildroot}}

%post
{after}
%preun
if [ "$1" = 0 ]; then
    {before_removal}fi

%files
{files}
"""
MACROS = {
    "_binary_payload": "w6.xzdio",  # older ones cannot read zstd
    "_buildhost": "tare",
    "_build_id_links": "none",
    "__os_install_post": "%{nil}",  # what the wheels hold stays as it is
    "clamp_mtime_to_source_date_epoch": "1",
    "debug_package": "%{nil}",
    "use_source_date_epoch_as_buildtime": "1",
}


def main() -> None:
    wheels = sorted(RESULT.glob("tare-*.whl"))
    if len(wheels) != 1:
        raise SystemExit(f"packages: {RESULT} has {len(wheels)} wheels of Tare, not one; run: make wheel")
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            raise SystemExit(f"packages: {tool} is missing; Debian: apt-get install {package}")
    shutil.rmtree(STAGE, ignore_errors=True)
    for architecture in BUILDERS:
        contents = stage(wheels[0], architecture)
        for made in (make_deb(contents), make_rpm(contents)):
            sizes = f"{made.stat().st_size / 1e6:.1f} MB, {contents.size_byte / 1e6:.1f} MB installed"
            print(f"packages: {sizes}", file=sys.stderr, flush=True)
            print(made, flush=True)


def make_deb(contents: Contents) -> Path:
    """The package for Debian and what is made from it."""
    tree, architecture = contents.root.parent / "deb", DEBIAN[contents.architecture]
    shutil.copytree(contents.root, tree, symlinks=True)
    control = {"control": _control(contents), "postinst": AFTER, "prerm": BEFORE_REMOVAL}
    for name, text in control.items():
        file = tree / "DEBIAN" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text if name == "control" else f"#!/bin/sh\nset -e\n{text}")
        file.chmod(0o644 if name == "control" else 0o755)
    made = RESULT / f"tare_{version()}_{architecture}.deb"
    _run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(tree), str(made)])
    return made


def make_rpm(contents: Contents) -> Path:
    """The package for Fedora, Rocky, openSUSE and their like."""
    folder = contents.root.parent.resolve() / "rpm"
    folder.mkdir()
    spec = folder / "tare.spec"
    spec.write_text(_spec(contents))
    defined = MACROS | {"_topdir": str(folder), "_rpmdir": str(folder)}
    words = [word for name, value in defined.items() for word in ("--define", f"{name} {value}")]
    _run(["rpmbuild", "-bb", "--quiet", "--target", f"{contents.architecture}-linux", *words, str(spec)])
    [made] = folder.rglob("*.rpm")
    return Path(shutil.copy(made, RESULT))


def _control(contents: Contents) -> str:
    return CONTROL.format(
        version=version(),
        architecture=DEBIAN[contents.architecture],
        size_kib=contents.size_byte // 1024,
        oldest=OLDEST,
        after_newest=AFTER_NEWEST,
        libc=LIBC,
        used=", ".join(USED),
        summary=_project()["description"],
    )


def _spec(contents: Contents) -> str:
    return SPEC.format(
        version=version(),
        summary=_project()["description"],
        oldest=OLDEST,
        pythons=" or ".join(f"python{each}" for each in reversed(PYTHONS)),
        libc=LIBC,
        recommends="".join(f"Recommends: {each}\n" for each in USED),
        bundled="".join(
            f"Provides: bundled(python3dist({name})) = {release}\n"
            for name, release in sorted(contents.bundled.items())
        ),
        root=contents.root.resolve(),
        after=AFTER,
        before_removal=BEFORE_REMOVAL,
        files="\n".join(_owned(contents.root)),
    )


def _owned(root: Path) -> list[str]:
    """Lines of %files: the folders that are Tare's alone, and each file in those of all packages."""
    files = sorted(path.relative_to(root) for path in root.rglob("*") if not path.is_dir())
    own = (HOME, ABOUT)
    others = [f"/{file}" for file in files if not any(map(file.is_relative_to, own))]
    return [*(f"/{folder}" for folder in own), *(f"{name}*" if "/man/" in name else name for name in others)]


def version() -> str:
    return str(_project()["version"])


def _project() -> dict[str, object]:
    project: dict[str, object] = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    return project


def _run(argv: list[str]) -> None:
    variables = os.environ | {"SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH}
    subprocess.run(argv, check=True, timeout=LIMIT_S, stdout=sys.stderr, env=variables)


if __name__ == "__main__":
    main()
