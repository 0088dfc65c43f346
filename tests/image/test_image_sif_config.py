# SPDX-License-Identifier: Apache-2.0
"""The variables and the command of a SIF are read from its scripts, which are never run."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tare.image.sif_config import _value, sif_config
from tests.image.stand_ins import quiet

OF_AN_OCI_IMAGE = """#!/bin/sh
export PATH="/opt:/bin"
export GREETING="${GREETING:-"good day"}"
export QUOTE="${QUOTE:-"it's \\\\$HOME \\\\\\"x\\\\\\""}"
"""
"""As ``apptainer build`` 1.4.3 wrote it from an OCI layout."""
OF_A_DEFINITION = """# written by hand
export LD_LIBRARY_PATH=/opt/lib:$LD_LIBRARY_PATH
export PATH=/opt/${GREETING}/bin:$PATH
export SINGLE='$HOME'
    INDENTED=yes;
export HOST=$(hostname)
export CUT=${PATH%%:*}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".singularity.d/env").mkdir(parents=True)
    return tmp_path


def test_plain_values_and_references_are_read_and_what_takes_a_shell_is_said(root: Path) -> None:
    (root / ".singularity.d/env/10-docker2singularity.sh").write_text(OF_AN_OCI_IMAGE)
    (root / ".singularity.d/env/90-environment.sh").write_text(OF_A_DEFINITION)
    said: list[str] = []
    assert sif_config(root, said.append).variables == {
        "PATH": "/opt/good day/bin:/opt:/bin",
        "GREETING": "good day",
        "LD_LIBRARY_PATH": "/opt/lib:",
        "SINGLE": "$HOME",
        "INDENTED": "yes",
    }
    assert [line.partition(",")[0] for line in said] == [
        f"left out the variable {name}" for name in ("QUOTE", "HOST", "CUT")
    ]


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("#!/bin/sh\nOCI_ENTRYPOINT='\"/app\"'\n", ("/.singularity.d/runscript",)),
        ('#!/bin/sh\necho "There is no runscript defined for this container\\n";\n', ()),
        (None, ()),
    ],
)
def test_a_runscript_is_the_usual_command(script: str | None, command: tuple[str, ...], root: Path) -> None:
    if script is not None:
        (root / ".singularity.d/runscript").write_text(script)
    config = sif_config(root, quiet)
    assert (config.entrypoint, config.command) == ((), command)


@pytest.mark.parametrize(
    "link", [".singularity.d", ".singularity.d/env", ".singularity.d/env/90-environment.sh"]
)
def test_a_link_in_the_place_of_the_environment_is_not_followed(
    link: str, root: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    for folder in (secret, secret / "env"):
        folder.mkdir(exist_ok=True)
        (folder / "90-environment.sh").write_text("export A=b\n")
    (root / ".singularity.d/env").rmdir()
    if link == ".singularity.d":
        (root / link).rmdir()
    elif link.endswith(".sh"):
        (root / link).parent.mkdir()
    target = {".singularity.d": secret, ".singularity.d/env": secret / "env"}
    (root / link).symlink_to(target.get(link, secret / "90-environment.sh"))
    assert sif_config(root, quiet).variables == {}


@given(some.text())
def test_any_text_is_a_value_or_left_out(text: str) -> None:
    value = _value("A", text, {})
    assert value is None or isinstance(value, str)
