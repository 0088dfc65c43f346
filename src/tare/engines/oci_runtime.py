# SPDX-License-Identifier: Apache-2.0
"""OCI runtimes on the host's kernel with the command line of runc(8), in the form that their own ``spec`` writes.

A runtime's ``spec`` writes the configuration that people start with: namespaces, capabilities, masked paths. Tare adds
the node's root and directories, and enforces the limits itself.
"""

import json
import stat
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from tare.errors import NodeError
from tare.host import cgroups, process
from tare.host.told import told
from tare.nodes import confined, layer
from tare.nodes.provider import MADE_NETWORKS, WORK_DIRECTORY, Node, NodeSpec, Probe, Provider
from tare.records import NetworkKind

PLAIN_RUNTIMES = frozenset({"runc", "crun", "youki", "nvidia"})
"""Those whose containers are processes of the host's kernel for certain; Docker's others are measured as sandboxes.

NVIDIA's is runc with a hook for its devices.
"""
_BECOMING = ("CAP_CHOWN", "CAP_KILL", "CAP_SETGID", "CAP_SETUID")
"""The capabilities that a node's process needs to become the commands' user; the commands have none of them."""
_GRANTED = ("bounding", "effective", "permitted")


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


class OwnProcess(TypedDict):
    """The parts of the first process's configuration that Tare extends."""

    capabilities: dict[str, list[str]]


class OwnMount(TypedDict):
    """A mount that the runtime makes itself."""

    destination: str
    options: NotRequired[list[str]]


class OwnResources(TypedDict):
    """What the runtime would allow and limit by a control group."""

    devices: NotRequired[list[dict[str, Any]]]


class OwnLinux(TypedDict):
    """The part of the configuration that only Linux has."""

    namespaces: list[dict[str, str]]
    resources: NotRequired[OwnResources]


class OwnConfiguration(TypedDict):
    """The parts of the output of a runtime's ``spec`` that Tare uses (OCI Runtime Specification, config.md)."""

    process: OwnProcess
    mounts: list[OwnMount]
    linux: OwnLinux


class OciRuntime(Provider):
    """A subclass names the technology, which is also the program, and its package."""

    package: str
    device_refusal = None
    option_names: Mapping[str, str] = {}
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}

    def probe(self) -> Probe:
        return confined.probe_tool([self.technology, "--version"], self.package)

    def runtime(self, spec: NodeSpec) -> list[str]:
        """The program and its global options: its notes about the node go with the node's own folder."""
        return [self.technology, f"--root={spec.directory / 'runtime'}"]

    def start(self, spec: NodeSpec) -> Node:
        layer.prepare(spec)
        configuration = completed(self._own_configuration(spec), spec, layer.mount_root(spec))
        words = ["run", "--detach", f"--bundle={spec.directory}", spec.name]
        group = run(spec, configuration, [*self.runtime(spec), *words])
        confined.withdraw_socket(spec)
        return Node(spec=spec, init_pid=confined.first_process(group))

    def prefix(self, node: Node) -> list[str]:
        return confined.enter_attended(node.spec)

    def stop(self, spec: NodeSpec) -> None:
        confined.remove(spec)

    def _own_configuration(self, spec: NodeSpec) -> OwnConfiguration:
        process.run_checked([self.technology, "spec", f"--bundle={spec.directory}"])
        return parse(configuration_file(spec).read_bytes(), self.technology)


def parse(text: str | bytes, runtime: str) -> OwnConfiguration:
    """The output of ``runtime spec``; ``NodeError`` where that is not a configuration."""
    return told(OwnConfiguration, text, f"{runtime} spec")


def completed(own: OwnConfiguration, spec: NodeSpec, root: Path) -> dict[str, Any]:
    """The runtime's own configuration with the node's root, first process, network and directories.

    The resource limits are the runner's, as in all nodes.
    """
    namespaces = [entry for entry in own["linux"]["namespaces"] if entry.get("type") != "network"]
    return {
        **own,
        "process": {
            **own["process"],
            "args": confined.attending_init(spec),
            "capabilities": _with_becoming(own["process"]["capabilities"]),
            "rlimits": [],
            "terminal": False,
        },
        "root": {"path": str(root)},
        "hostname": spec.name,
        "mounts": [*map(partial(_sized, spec), own["mounts"]), *shared_mounts(spec)],
        "linux": {
            **own["linux"],
            **_devices(own["linux"], spec),
            "namespaces": [*namespaces, *network(spec)],
        },
    }


def _devices(own: OwnLinux, spec: NodeSpec) -> dict[str, Any]:
    """The devices that the runtime is to make, with the owner and mode of the host's; ``NodeError`` if one is gone."""
    try:
        made = [(device, device.path.stat()) for device in spec.devices]
    except OSError as error:
        raise NodeError(f"the node cannot have {error.filename}: {error.strerror}") from error
    listed = [
        {
            "path": str(device.path),
            "type": "c",
            "major": device.major,
            "minor": device.minor,
            "fileMode": stat.S_IMODE(seen.st_mode),
            "uid": seen.st_uid,
            "gid": seen.st_gid,
        }
        for device, seen in made
    ]
    if not listed:
        return {}
    resources: OwnResources = own.get("resources", {})
    allowed = [
        {"allow": True, "type": "c", "major": each.major, "minor": each.minor, "access": "rwm"}
        for each in spec.devices
    ]
    rules = [*resources.get("devices", []), *allowed]
    return {"devices": listed, "resources": {**resources, "devices": rules}}


def _with_becoming(own: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {**own, **{kind: sorted({*own.get(kind, []), *_BECOMING}) for kind in _GRANTED}}


def _sized(spec: NodeSpec, own: OwnMount) -> OwnMount:
    """Give /dev/shm the stated size."""
    if own["destination"] != "/dev/shm":
        return own
    options = [option for option in own.get("options", []) if not option.startswith("size=")]
    return {**own, "options": [*options, f"size={spec.shm_byte}"]}
