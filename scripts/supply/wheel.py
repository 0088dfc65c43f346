# SPDX-License-Identifier: Apache-2.0
"""`python -m scripts.supply.wheel`, in the repository: build/dist/tare-*.whl with Tare's own programs in it.

They are compiled as for an image, in the builder, so that who installs the wheel needs neither builder nor compiler and
gets an image of the same digest. The same sources and the same builder give the same bytes.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tare.image import native, recipe
from tare.image.native import builder_origin, native_programs, programs_key
from tare.image.packages import Origin
from tare.image.store import building

STAGE, RESULT = Path("build/wheel"), Path("build/dist")
TAKEN = ("LICENSE", "README.md", "pyproject.toml")
PROGRAMS = "src/tare/image/programs"


def main() -> None:
    source = recipe.native_source()
    with building():
        programs = native_programs(source, _say)
        origin = builder_origin(source)
        if origin is None:
            raise SystemExit(
                "wheel: this host's own compiler made the programs, as this user cannot make the builder: some are "
                "missing, and none are what an image build makes. Run as root, or with subordinate ids (subuid(5))."
            )
        stage(programs, programs_key(source), origin)
    print(build())


def stage(programs: Path, key: str, origin: Origin) -> None:
    """What the wheel is built from: the Python sources and the programs, and nothing else that lies around."""
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree("src/tare", STAGE / "src/tare", ignore=shutil.ignore_patterns("__pycache__"))
    for name in TAKEN:
        shutil.copy(name, STAGE)
    native.put(programs, key, origin, STAGE / PROGRAMS)
    (STAGE / "setup.cfg").write_text(f"[bdist_wheel]\nplat_name = linux_{os.uname().machine}\n")


def build() -> Path:
    """The wheel's file; nothing is fetched, and no time is in it."""
    shutil.rmtree(RESULT, ignore_errors=True)
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(RESULT), f"./{STAGE}"],
        env={**os.environ, "SOURCE_DATE_EPOCH": recipe.SOURCE_DATE_EPOCH},
        check=True,
    )
    return next(RESULT.iterdir())


def _say(line: str) -> None:
    print(f"wheel: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
