# SPDX-License-Identifier: Apache-2.0
"""How native/ is compiled for an image, as CMake says it: few compilations, and the timed ones as ever."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tare.image import recipe
from tests.conftest import REPOSITORY

NATIVE = REPOSITORY / "native"
TIMED = re.compile(r"/(npb_\w+_(plain|avx2|avx512)|slices_pieces)\.dir/")


@pytest.fixture(scope="module")
def compilations(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    """Object file → its command: file by file, and as an image is built."""
    folder = tmp_path_factory.mktemp("configured")
    alone = ("-DCMAKE_BUILD_TYPE=Release", "-DTARE_TESTS=OFF")
    return configured(folder / "alone", alone), configured(folder / "image", recipe.CMAKE_OPTIONS)


def configured(build: Path, options: Sequence[str]) -> dict[str, str]:
    argv = ["cmake", "-S", str(NATIVE), "-B", str(build), "-GNinja", *options]
    subprocess.run(argv, check=True, capture_output=True, timeout=120)
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = (entry["command"].replace(str(build), "BUILD") for entry in entries)
    return {command.partition(" -o ")[2].split()[0]: command for command in commands}


def test_an_image_takes_half_the_compilations_or_less(
    compilations: tuple[dict[str, str], dict[str, str]],
) -> None:
    alone, image = (
        {path for path in compilation if not TIMED.search(f"/{path}")} for compilation in compilations
    )
    assert len(image) <= len(alone) / 2


def test_what_is_timed_is_compiled_file_by_file_with_the_same_flags(
    compilations: tuple[dict[str, str], dict[str, str]],
) -> None:
    alone, image = (
        {path: command for path, command in compilation.items() if TIMED.search(f"/{path}")}
        for compilation in compilations
    )
    assert alone.keys() >= {"slices/CMakeFiles/slices_pieces.dir/compute.cpp.o"}
    assert image == alone
