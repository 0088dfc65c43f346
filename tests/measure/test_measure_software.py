# SPDX-License-Identifier: Apache-2.0
"""The software in which a host's build and an image's differ."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import command_workload, fake_campaign

from tare.image.store import Image
from tare.measure.software import compared_software
from tare.plan.campaign import Campaign
from tare.records import HOST_FILES, Environment, Software

PROGRAM = str(Path(sys.executable).resolve())


@pytest.fixture
def image(tmp_path: Path) -> Image:
    """An image with this Python and nothing else."""
    root = tmp_path / "root"
    (root / PROGRAM.lstrip("/")).parent.mkdir(parents=True)
    shutil.copy(PROGRAM, root / PROGRAM.lstrip("/"))
    return Image("own", root, "sha256:x", {})


def campaign(*argv: str, binds: tuple[str, ...] = (), variables: tuple[str, ...] = ()) -> Campaign:
    workload = command_workload(argv[0])
    workload = replace(workload, options={**workload.options, "argv": list(argv)})
    host = Environment(name="host", technology=HOST_FILES, options={"variables": list(variables)})
    return replace(fake_campaign(workload=workload), environments=(host,), binds=binds)


def parts(image: Image, asked: Campaign) -> dict[str, tuple[str | None, str | None, bool]]:
    (software,) = compared_software(asked, image)
    return {part.label: (part.host, part.image, part.same) for part in software.parts}


def test_the_same_program_without_the_images_libraries_is_said_to_lack_them(image: Image) -> None:
    seen = parts(image, campaign(PROGRAM))
    assert seen["program"][2]
    host, inside, same = seen["not found"]
    assert host is None
    assert "libc" in str(inside)
    assert not same
    assert seen["C library"][1] is None


def test_a_library_that_differs_by_one_byte_is_not_the_same(image: Image) -> None:
    library = next(Path("/usr/lib").rglob("libc.so.6"), None) or next(Path("/lib").rglob("libc.so.6"))
    inside = image.root / str(library.resolve()).lstrip("/")
    inside.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(library, inside)
    folder = f"LD_LIBRARY_PATH={library.resolve().parent}"
    asked = campaign(PROGRAM)
    asked = replace(
        asked,
        workloads=tuple(
            replace(workload, options={**workload.options, "image_variables": [folder]})
            for workload in asked.workloads
        ),
    )
    assert parts(image, asked)["C library"][1] is not None
    with inside.open("ab") as opened:
        opened.write(b"\0")
    host, image_said, same = parts(image, asked)["C library"]
    assert not same
    assert host != image_said


def test_a_script_is_judged_by_its_interpreter(image: Image) -> None:
    script = image.root / "opt/script"
    script.parent.mkdir()
    script.write_text(f"#!/usr/bin/env {Path(PROGRAM).name}\n")
    asked = campaign(str(script), binds=(f"{script.parent}:ro",), variables=(f"PATH={Path(PROGRAM).parent}",))
    assert "C library" in parts(image, asked)


def test_a_program_that_one_side_lacks_is_not_compared(image: Image) -> None:
    assert compared_software(campaign("/nosuch/program"), image) == ()
    assert compared_software(campaign("sh"), image) == ()


def test_nothing_is_read_unless_the_hosts_own_files_take_part(image: Image) -> None:
    nothing: tuple[Software, ...] = compared_software(
        fake_campaign(workload=command_workload(PROGRAM)), image
    )
    assert nothing == ()
