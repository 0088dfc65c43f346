# SPDX-License-Identifier: Apache-2.0
"""What the runner tells the first process of an ordinary user's node, on its command line."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from tare.nodes.provider import Bind, NodeNetwork, NodeSpec
from tare.records import Bounds, NetworkKind, Storage

MAKER_FILE, KEEPER_FILE, TECHNOLOGY_FILE = "layer-maker", "keeper.pid", "technology.pid"
"""In the node's folder: what made its layer, who keeps its namespaces, and who is to become its technology."""
_MODULE = "tare.nodes.unprivileged.first_process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How the node is to be made around ``argv``."""

    argv: tuple[str, ...]
    in_image: bool
    """Whether ``argv`` is executed in the image; else outside, and another process keeps the namespaces for it."""
    system: bool
    """Whether /proc, /sys, /dev and what is bound are mounted below the image's root."""
    own_network: bool
    data_limit_byte: int | None
    """RLIMIT_DATA for ``argv``; ``None``: memory is limited otherwise."""
    again: Path | None
    """Where the image's root is to be once more, with all that is mounted below it."""

    def command(self, spec: NodeSpec) -> list[str]:
        """The argv of the first process."""
        told = json.dumps({"order": asdict(self), "spec": asdict(spec)}, default=str)
        return [sys.executable, "-P", "-m", _MODULE, told]  # -P: no module of the current folder is run

    @classmethod
    def read(cls, told: str) -> tuple[Self, NodeSpec]:
        """The inverse of ``command``."""
        found = json.loads(told)
        again = found["order"]["again"]
        order = {**found["order"], "argv": tuple(found["order"]["argv"]), "again": again and Path(again)}
        return cls(**order), _spec(found["spec"])


def _spec(found: Mapping[str, Any]) -> NodeSpec:
    """As far as a node of an ordinary user needs it: its network is one of few kinds, and made with it."""
    shared = found["shared_work"]
    changed = {
        "directory": Path(found["directory"]),
        "image_root": Path(found["image_root"]),
        "processors": tuple(found["processors"]),
        "binds": tuple(Bind(path=Path(one["path"]), writable=one["writable"]) for one in found["binds"]),
        "network": NodeNetwork(kind=NetworkKind(found["network"]["kind"])),
        "storage": Storage(found["storage"]),
        "shared_work": shared and Path(shared),
        "bounds": Bounds(**found["bounds"]),
    }
    return NodeSpec(**{**found, **changed})
