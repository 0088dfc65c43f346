# SPDX-License-Identifier: Apache-2.0
"""systemd-nspawn(1), started by hand: no registration, no unit, our control group."""

from collections.abc import Mapping
from pathlib import Path

from tare.engines import engine
from tare.host import standing
from tare.nodes import confined, layer
from tare.nodes.provider import MADE_NETWORKS, WORK_DIRECTORY, Node, NodeSpec, Probe, Provider
from tare.records import NetworkKind, OptionValue


class Nspawn(Provider):
    technology = "systemd-nspawn"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    device_refusal = None
    option_names: Mapping[str, str] = {"seccomp": engine.SECCOMP_HELP}

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return engine.check_seccomp(options)

    def probe(self) -> Probe:
        return confined.probe_tool(["systemd-nspawn", "--version"], "systemd-container")

    def start(self, spec: NodeSpec) -> Node:
        engine.require(self.check_options(spec.options))
        return confined.start(spec, [*_variables(spec), *_nspawn(spec)])

    def prefix(self, node: Node) -> list[str]:
        return confined.enter_attended(node.spec)

    def stop(self, spec: NodeSpec) -> None:
        confined.remove(spec)
        (spec.directory / ".#root.lck").unlink(missing_ok=True)  # nspawn's own lock beside the root


def _variables(spec: NodeSpec) -> list[str]:
    """Variables for systemd-nspawn itself, not for its payload (systemd's docs/ENVIRONMENT.md)."""
    return [] if spec.options.get("seccomp", True) else ["env", "SYSTEMD_SECCOMP=0"]


def _nspawn(spec: NodeSpec) -> list[str]:
    return [
        "systemd-nspawn",
        *("--quiet", "--directory", str(spec.directory / "root"), f"--machine={spec.name}"),
        *("--register=no", "--keep-unit", "--console=pipe", "--kill-signal=SIGTERM"),
        *_network(spec),
        *_resource_limits(),
        *("--resolv-conf=off", "--timezone=off", "--link-journal=no"),
        f"--tmpfs=/dev/shm:mode=1777,size={spec.shm_byte}",
        *(_bind(device.path, str(device.path), writable=True) for device in spec.devices),
        _bind(spec.work, WORK_DIRECTORY, writable=True),
        *(
            _bind(source, str(bind.path), writable=bind.writable)
            for source, bind in layer.bound_sources(spec)
        ),
    ]


def _resource_limits() -> list[str]:
    """This process's limits, as in all other nodes; by default it would use the kernel's for its first process."""
    return [
        f"--rlimit={name.upper()}={':'.join('infinity' if value < 0 else str(value) for value in limits)}"
        for name, limits in standing.resource_limits().items()
    ]


def _network(spec: NodeSpec) -> list[str]:
    """The network options; started by hand, it shares the host's network by default."""
    namespace = spec.network.namespace
    return [] if namespace is None else [f"--network-namespace-path={namespace}"]


def _bind(source: Path, target: str, *, writable: bool) -> str:
    escaped = [text.replace("\\", "\\\\").replace(":", "\\:") for text in (str(source), target)]
    return f"--bind{'' if writable else '-ro'}={':'.join(escaped)}"
