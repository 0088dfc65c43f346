# SPDX-License-Identifier: Apache-2.0
"""Every command that the documentation shows runs, in the order shown, as a reader would type it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tare.image.store import Image
from tests.conftest import REPOSITORY

SHOWN = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOCUMENTS = [
    document
    for document in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    if SHOWN.search(document.read_text())
]
WITH_FAKES = {
    "advise.md",
    "causes.md",
    "compare.md",
    "explorer.md",
    "export.md",
    "how-to-operator.md",
    "how-to-researcher.md",
    "imports.md",
    "npb.md",
    "order.md",
    "papers-views.md",
    "papers.md",
    "publish.md",
}
"""They start nothing of the machine, so that other tests may run at the same time (test_docs_with_fakes)."""
LONG = {
    "tare run quick": "tare plan quick",
    "tare calibrate": "tare calibrate --help",
    "tare doctor --networks": "tare doctor",
    "tare weigh --blocks 6 -- python3": 'tare weigh --blocks 1 --env lxc --env qemu -- python3 -c "sum(range(10**6))"',
    "tare serve": "tare serve --help",
}
"""What takes minutes is planned here instead, or runs in two environments; `make run` is what runs it, and the contract
tests try the networks."""


def shell_blocks(document: Path) -> list[str]:
    return SHOWN.findall(document.read_text())


@pytest.mark.root
@pytest.mark.timeout(280)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    "document", [each for each in DOCUMENTS if each.name not in WITH_FAKES], ids=lambda path: path.name
)
def test_the_shown_commands_run(document: Path, image: Image, tmp_path: Path) -> None:
    run_shown(document, image, tmp_path)


def run_shown(document: Path, image: Image, tmp_path: Path) -> None:
    """Run every block of the document in one folder, with the image and a state of its own."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "images").symlink_to(image.root.parent.parent)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "build").symlink_to(REPOSITORY / "build")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    blocks = shell_blocks(document)
    assert blocks, f"{document.name} shows no command"
    for block in blocks:
        done = subprocess.run(
            ["bash", "-euc", _shortened(block)],
            cwd=tmp_path / "here",
            env={**os.environ, "PATH": path, "TARE_STATE": str(tmp_path / "state")},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def _shortened(block: str) -> str:
    for long, short in LONG.items():
        block = re.sub(rf"^{long}\b.*$", short, block, flags=re.MULTILINE)
    # The verdicts are not what is tested here.
    block = re.sub(r"^(tare weigh .*?--blocks) \d+", r"\1 1", block, flags=re.MULTILINE)
    if '"fake"' not in block:  # a fake costs nothing
        block = re.sub(r"^blocks = \d+$", "blocks = 2", block, flags=re.MULTILINE)
    return re.sub(r"^(git|make|cd) .*$", ":", block, flags=re.MULTILINE)


def test_every_command_of_the_command_line_is_documented() -> None:
    text = "".join(document.read_text() for document in DOCUMENTS)
    shown = subprocess.run(
        [sys.executable, "-m", "tare", "--help"], capture_output=True, text=True, check=True
    ).stdout
    commands = re.findall(r"^  ([a-z]+)  ", shown.partition("Commands:")[2], re.MULTILINE)
    assert commands
    assert [name for name in commands if f"tare {name}" not in text] == []


@pytest.mark.parametrize("document", sorted((REPOSITORY / "docs").glob("*.md")), ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []
