# SPDX-License-Identifier: Apache-2.0
"""Guests for tests: small, by software emulation, and what is asked of them."""

import secrets
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tare.environments.qemu import Qemu
from tare.host.facts import online_processors
from tare.host.process import tool_environment
from tare.image.store import Image
from tare.nodes.provider import Node, NodeSpec
from tare.records import OptionValue

MEBIBYTE = 1 << 20
EMULATED: Mapping[str, OptionValue] = {"devices": "emulated", "accelerator": "tcg"}
PARAVIRTUAL: Mapping[str, OptionValue] = {"accelerator": "tcg"}


def guest_spec(
    image: Image, state: Path, options: Mapping[str, OptionValue] = PARAVIRTUAL, **changes: object
) -> NodeSpec:
    name = f"tare-test-{secrets.token_hex(4)}"
    values: dict[str, object] = {
        "name": name,
        "technology": "qemu",
        "options": options,
        "directory": state / "nodes" / name,
        "image_root": image.root,
        "image_digest": image.digest,
        "processors": (online_processors()[-1],),
        "memory_byte": 256 * MEBIBYTE,
        "shm_byte": 16 * MEBIBYTE,
        "cpu_quota": None,
    }
    return NodeSpec(**{**values, **changes})  # type: ignore[arg-type]


def inside(node: Node, *argv: str, timeout_s: float = 60) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*Qemu().prefix(node), *argv],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env=tool_environment(),
    )


def told(node: Node, *argv: str) -> str:
    done = inside(node, *argv)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
