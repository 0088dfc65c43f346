# SPDX-License-Identifier: Apache-2.0
"""The fake: commands run on the host as they are, with a planted slowdown; the whole pipeline in seconds, no root."""

import shutil
from collections.abc import Mapping

from tare.environments.provider import TOOLS_DIRECTORY, Node, NodeSpec, Probe, Provider
from tare.errors import NodeError
from tare.records import NetworkKind


class Fake(Provider):
    technology = "fake"
    networks = frozenset({NetworkKind.HOST})
    cooperates = False
    option_names: Mapping[str, str] = {
        "slowdown": "planted overhead as a fraction, found again by the fake workload",
        "broken": "what goes wrong: start, prefix or stop",
        "tools": "folder with Tare's own programs, instead of the image's",
    }

    def probe(self) -> Probe:
        return Probe(usable=True, version="for tests and trials of a campaign file")

    def start(self, spec: NodeSpec) -> Node:
        spec.work.mkdir(parents=True)
        if spec.options.get("broken") == "start":
            raise NodeError("the fake environment was told to fail at its start")
        return Node(
            spec=spec,
            init_pid=None,
            work_directory=str(spec.work),
            tools_directory=str(spec.options.get("tools") or f"{spec.image_root}{TOOLS_DIRECTORY}"),
            variables={"TARE_FAKE_SLOWDOWN": str(spec.options.get("slowdown", 0.0))},
        )

    def prefix(self, node: Node) -> list[str]:
        return ["false"] if node.spec.options.get("broken") == "prefix" else []

    def stop(self, spec: NodeSpec) -> None:
        if spec.options.get("broken") == "stop" and spec.work.exists():
            shutil.rmtree(spec.work)
            raise NodeError("the fake environment was told to fail at its stop")
        shutil.rmtree(spec.directory / "layer", ignore_errors=True)
