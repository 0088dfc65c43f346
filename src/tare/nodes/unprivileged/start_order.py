# SPDX-License-Identifier: Apache-2.0
"""The runner's order to the first process of an ordinary user's node, passed on its command line."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import tare
from tare.nodes.codec import decode, encode
from tare.nodes.provider import NodeSpec

MAKER_FILE, KEEPER_FILE, TECHNOLOGY_FILE = "layer-maker", "keeper.pid", "technology.pid"
"""In the node's folder: what made its layer, the keeper of its namespaces, and the process to become its technology."""
_RUN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from tare.nodes.unprivileged.first_process import main; sys.exit(main())"
)
"""This very Tare, whether it is installed or was copied here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOrder:
    """How to make the node around ``argv``."""

    argv: tuple[str, ...]
    in_image: bool
    """Whether ``argv`` is executed in the image; else outside, and another process keeps the namespaces for it."""
    system: bool
    """Whether /proc, /sys, /dev and the bound directories are mounted below the image's root."""
    own_network: bool
    data_limit_byte: int | None
    """RLIMIT_DATA for ``argv``; ``None``: memory is limited otherwise."""
    again: Path | None
    """Where the image's root is mounted once more, with everything mounted below it."""
    of_host: bool = False
    """Whether the root has the host's own files instead of the image's."""

    def command(self, spec: NodeSpec) -> list[str]:
        """The argv of the first process."""
        text = json.dumps({"order": encode(self), "spec": encode(spec)})
        source = str(Path(tare.__file__).parents[1])
        return [sys.executable, "-P", "-c", _RUN, source, text]  # -P: no module of the current folder is run

    @classmethod
    def read(cls, text: str) -> tuple[Self, NodeSpec]:
        """The inverse of ``command``."""
        plain = json.loads(text)
        return decode(cls, plain["order"]), decode(NodeSpec, plain["spec"])
