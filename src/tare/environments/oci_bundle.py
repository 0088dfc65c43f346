# SPDX-License-Identifier: Apache-2.0
"""The configuration of a node for an OCI runtime, and its start (OCI Runtime Specification, config.md)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tare.host import cgroups, process
from tare.nodes import confined, layer
from tare.nodes.provider import WORK_DIRECTORY, NodeSpec
from tare.records import NetworkKind


def run(spec: NodeSpec, configuration: dict[str, Any], runtime: Sequence[str]) -> cgroups.Group:
    """Write the bundle and let ``runtime``, the argv of its ``run``, start the node in Tare's own control group."""
    configuration_file(spec).write_text(json.dumps(configuration))
    group = confined.create_group(spec)
    process.start_idle([*confined.begin(spec, group), *runtime], log=spec.directory / "init.log")
    return group


def configuration_file(spec: NodeSpec) -> Path:
    """The file in the bundle, which is the node's own folder."""
    return spec.directory / "config.json"


def network(spec: NodeSpec) -> list[dict[str, str]]:
    """The namespace made for the node, the host's, or the runtime's default: a new and empty one."""
    if spec.network.namespace is not None:
        return [{"type": "network", "path": str(spec.network.namespace)}]
    return [] if spec.network.kind is NetworkKind.HOST else [{"type": "network"}]


def shared_mounts(spec: NodeSpec) -> list[dict[str, Any]]:
    """The work directory and the user's bound directories."""
    bound = [
        bind(source, str(each.path), writable=each.writable) for source, each in layer.bound_sources(spec)
    ]
    return [bind(spec.work, WORK_DIRECTORY, writable=True), *bound]


def bind(source: Path, target: str, *, writable: bool) -> dict[str, Any]:
    options = ["rbind", "rw" if writable else "ro"]
    return {"destination": target, "type": "bind", "source": str(source), "options": options}
