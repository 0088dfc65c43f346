# SPDX-License-Identifier: Apache-2.0
"""The fake: commands run on the host unchanged, with a planted slowdown; the whole pipeline in seconds, no root."""

import sys
from collections.abc import Mapping

from tare.environments import fake_clock
from tare.errors import NodeError
from tare.host.removal import remove_what_goes
from tare.nodes.provider import TOOLS_DIRECTORY, Node, NodeSpec, Probe, Provider
from tare.records import NetworkKind, OptionValue

_CLOCK_FILE = "clock"
_SMALL_PAGES_COST = 0.25
_STATE_FILE = "runs"
"""A byte for each run of the fake workload since the node's start."""


class Fake(Provider):
    technology = "fake"
    networks = frozenset({NetworkKind.HOST})
    cooperates = False
    device_refusal = None
    keeps_user = True
    option_names: Mapping[str, str] = {
        "slowdown": "planted overhead as a fraction, found again by the fake workload",
        "accumulate": "planted growth from each run to the next within one start, as a fraction",
        "huge_pages": "false: as if its memory lay in small pages, an overhead of 25 % that huge pages take away",
        "broken": "what goes wrong: start, prefix or stop",
        "tools": "folder with Tare's own programs, instead of the image's",
        "clock": f"gives the node a clock of its own: {fake_clock.EXAMPLES}",
    }

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        asked = options.get("clock")
        if asked is None or fake_clock.parse(asked) is not None:
            return {}
        return {"clock": f"must be such as {fake_clock.EXAMPLES}, but is {asked!r}"}

    def probe(self) -> Probe:
        return Probe(usable=True, version="for tests and trials of a campaign file")

    def start(self, spec: NodeSpec) -> Node:
        spec.work.mkdir(parents=True)
        if spec.options.get("broken") == "start":
            raise NodeError("the fake environment was told to fail at its start")
        if "clock" in spec.options:
            fake_clock.begin(spec.directory / _CLOCK_FILE)
        return Node(
            spec=spec,
            init_pid=None,
            work_directory=str(spec.work),
            tools_directory=str(spec.options.get("tools") or f"{spec.image_root}{TOOLS_DIRECTORY}"),
            variables={"TARE_FAKE_SLOWDOWN": str(_slowdown(spec)), **_accumulating(spec)},
            facts={"transparent huge pages": "off"} if _in_small_pages(spec) else {},
            own_kernel="clock" in spec.options,
            keeps_user=self.keeps_user,
        )

    def prefix(self, node: Node) -> list[str]:
        if node.spec.options.get("broken") == "prefix":
            return ["false"]
        planted = fake_clock.parse(node.spec.options.get("clock"))
        if planted is None or planted.honest:
            return []
        interpreter = [sys.executable, "-IS", fake_clock.__file__]
        return [*interpreter, str(node.spec.options["clock"]), str(node.spec.directory / _CLOCK_FILE)]

    def stop(self, spec: NodeSpec) -> None:
        if spec.options.get("broken") == "stop" and spec.work.exists():
            remove_what_goes(spec.work)
            raise NodeError("the fake environment was told to fail at its stop")
        remove_what_goes(spec.directory / "layer")


def _slowdown(spec: NodeSpec) -> float:
    planted = spec.options.get("slowdown", 0.0)
    own = float(planted) if isinstance(planted, int | float) else 0.0
    return own + (_SMALL_PAGES_COST if _in_small_pages(spec) else 0.0)


def _in_small_pages(spec: NodeSpec) -> bool:
    return spec.options.get("huge_pages", True) is False


def _accumulating(spec: NodeSpec) -> dict[str, str]:
    asked = spec.options.get("accumulate")
    if asked is None:
        return {}
    return {"TARE_FAKE_ACCUMULATE": str(asked), "TARE_FAKE_STATE": str(spec.directory / _STATE_FILE)}
