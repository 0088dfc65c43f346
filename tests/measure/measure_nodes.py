# SPDX-License-Identifier: Apache-2.0
"""Nodes for the tests of this folder."""

import json
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tare.host.facts import online_processors
from tare.image.store import Image
from tare.nodes.provider import NodeSpec

MEBIBYTE = 1 << 20
AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]


def node_spec(
    state: Path, technology: str = "fake", image: Image | None = None, **changes: object
) -> NodeSpec:
    name = f"tare-test-{secrets.token_hex(4)}"
    values: dict[str, object] = {
        "name": name,
        "technology": technology,
        "options": {},
        "directory": state / "nodes" / name,
        "image_root": image.root if image else Path("/nowhere"),
        "image_digest": image.digest if image else "sha256:0",
        "processors": (online_processors()[0],),
        "memory_byte": 64 * MEBIBYTE,
        "shm_byte": MEBIBYTE,
        "cpu_quota": None,
    }
    return NodeSpec(**{**values, **changes})  # type: ignore[arg-type]


def state_with(image: Image, folder: Path) -> Path:
    """A state folder of its own that holds the machine's images."""
    folder.mkdir(exist_ok=True)
    (folder / "images").symlink_to(image.root.parent.parent)
    return folder


def campaign_file(folder: Path, *argv: str, technology: str = "native") -> Path:
    """One block of one command, natively and in one technology, one trial after the other."""
    path = folder / "campaign.toml"
    path.write_text(
        f'name = "test"\nblocks = 1\nlayouts = ["1c1p1i"]\nseed = 3\n\n'
        f'[turns]\nway = "whole"\n\n'
        f'[limits]\nmemory = "128 MiB"\nshm = "4 MiB"\ntime = "60s"\n\n'
        f'[[environment]]\ntechnology = "{technology}"\nname = "other"\n\n'
        f'[[workload]]\nkind = "command"\nname = "work"\nargv = {json.dumps(argv)}\n'
    )
    return path


def wait_until(happened: Callable[[], object], limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
