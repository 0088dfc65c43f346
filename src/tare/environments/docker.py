# SPDX-License-Identifier: Apache-2.0
"""Docker: one container per node, which uses Tare's own layer, or Docker's storage on request.

A sandbox runtime such as gVisor's reads its network namespace only once, at the start. With such a runtime, an idle
container comes first; its namespace gets the node's link, and the node then joins it.
"""

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from tare.engines import engine, engine_arguments, engine_images, outline
from tare.engines.oci_runtime import PLAIN_RUNTIMES
from tare.environments import docker_shims, gvisor_node
from tare.errors import NodeError
from tare.host import cgroups, process
from tare.host.distribution import to_install
from tare.host.privileges import ordinary_user
from tare.host.told import process_id, told
from tare.nodes import layer
from tare.nodes.group import with_sandbox
from tare.nodes.provider import (
    MADE_NETWORKS,
    TOOLS_DIRECTORY,
    Chosen,
    Node,
    NodeSpec,
    Probe,
    Provider,
    Victim,
)
from tare.records import NetworkKind, OptionValue
from tare.units import MEBIBYTE

_DOCKER = ("docker",)
_REMOVE = ("docker", "rm", "--force", "--volumes")
_PAUSE = "pause"
_PAUSE_BYTE = 16 * MEBIBYTE
_DAEMONS = ("dockerd", "containerd")
_STARTING_LIMIT_S = 15.0


class Docker(Provider):
    technology = "docker"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}
    makes_namespace = True
    option_names: Mapping[str, str] = {
        "storage": engine.STORAGE_HELP,
        "runtime": "OCI runtime, one that the daemon knows; else the daemon's default",
        "seccomp": engine.PROFILE_HELP,
        engine_arguments.OPTION: engine_arguments.HELP,
    }

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Keep the options for ``probe`` and ``prepare``; nodes have their own."""
        self._options = options or {}
        self.memory_victim = Victim.NODE if _is_gvisor(self._options) else Victim.PROCESS

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        check_run = engine.check_run(options)
        runtime = options.get("runtime", "runc")
        if not isinstance(runtime, str) or not runtime:
            check_run["runtime"] = f"must be the name of a runtime, but is {runtime!r}"
        return check_run

    def refuse_devices(self, options: Mapping[str, OptionValue]) -> str | None:
        if options.get("runtime", "runc") in PLAIN_RUNTIMES:
            return None
        return "the runtime may have a kernel of its own, which shows no device of the host"

    def refuse_uncached(self, options: Mapping[str, OptionValue]) -> str | None:
        return gvisor_node.CACHES if _is_gvisor(options) else None

    def chosen(self, options: Mapping[str, OptionValue]) -> Chosen:
        return engine_arguments.chosen(options)

    def configured(self, options: Mapping[str, OptionValue]) -> Self:
        return type(self)(options)

    def probe(self) -> Probe:
        if ordinary_user():
            reason = "needs root for the layer of its nodes, even for users of the daemon"
            return Probe(usable=False, reason=reason, remedy="run as root")
        if shutil.which("docker", path=process.tool_environment()["PATH"]) is None:
            return Probe(usable=False, reason="the docker command is missing", remedy=to_install("docker.io"))
        remedy = "start the daemon (systemctl start docker, or dockerd as root)"
        try:
            done = _version()
        except NodeError as error:
            reason = f"the Docker daemon does not answer: {error}"
            return Probe(usable=False, reason=reason, remedy=remedy)
        if done.code != 0:
            said = done.last_words.removesuffix(" Is the docker daemon running?").rstrip(".")
            return Probe(usable=False, reason=f"the Docker daemon does not answer: {said}", remedy=remedy)
        return self._probe_runtime() or Probe(usable=True, version=done.stdout.strip())

    def _probe_runtime(self) -> Probe | None:
        """Why the runtime is not available, or ``None``."""
        wanted = self._options.get("runtime")
        if wanted is None:
            return None
        known = told(
            dict[str, Any],
            process.run_checked(["docker", "info", "--format", "{{json .Runtimes}}"]).stdout,
            "docker info",
        )
        if wanted in known:
            return None
        reason = f"the Docker daemon knows no runtime {wanted!r}, only {', '.join(sorted(known))}"
        remedy = 'name its path in "runtimes" of /etc/docker/daemon.json, then reload the daemon (kill -HUP)'
        return Probe(usable=False, reason=reason, remedy=remedy)

    def prepare(self, image_root: Path, image_digest: str) -> None:
        engine_images.remove_old(_DOCKER, image_digest)
        if engine.has_own_storage(self._options):
            engine_images.ensure(_DOCKER, image_root, engine_images.reference(image_digest))
        else:
            outline.ensure(_DOCKER, image_root)

    def start(self, spec: NodeSpec) -> Node:
        engine.require(self.check_options(spec.options))
        docker_shims.trust(spec)
        cgroups.prepare_parent()
        layer.prepare(spec)
        if not engine.has_own_storage(spec.options):
            layer.mount_root(spec)
        if _comes_after_its_link(spec):
            return _run(spec, _pause_words(spec))
        return _run(spec, _words(spec))

    def complete(self, node: Node) -> Node:
        return _run(node.spec, _words(node.spec)) if _comes_after_its_link(node.spec) else node

    def prefix(self, node: Node) -> list[str]:
        return ["docker", "exec", "--interactive", node.spec.name]

    def helpers(self, node: Node) -> list[int]:
        """The containers' shim, and the daemons: a command's output passes through both."""
        return [*engine.supervisors(node, docker_shims.NAME), *engine.called(*_DAEMONS), *_kernel(node)]

    def stop(self, spec: NodeSpec) -> None:
        if (spec.directory / "layer").exists():
            _remove(spec)
        layer.remove(spec)


def _remove(spec: NodeSpec) -> None:
    if docker_shims.distrust(spec) and engine.remove_known(_REMOVE, spec, _PAUSE):
        return
    _version()
    engine.remove_labelled(_DOCKER, _REMOVE, spec)
    docker_shims.end(spec, _PAUSE)


def _version() -> process.Completed:
    """The daemon's version; wait for a daemon that is just being started."""
    deadline = time.monotonic() + (_STARTING_LIMIT_S if os.environ.get("TARE_DOCKERD_STARTING") else 0.0)
    while True:
        done = process.run(["docker", "version", "--format", "{{.Server.Version}}"], timeout_s=5)
        if done.code == 0 or time.monotonic() > deadline:
            return done
        time.sleep(0.05)


def _is_sandbox(spec: NodeSpec) -> bool:
    return spec.options.get("runtime", "runc") not in PLAIN_RUNTIMES


def _is_gvisor(options: Mapping[str, OptionValue]) -> bool:
    """Whether the runtime has the name from gVisor's own instructions."""
    return str(options.get("runtime", "")).startswith("runsc")


def _kernel(node: Node) -> list[int]:
    if node.init_pid is None or not _is_gvisor(node.spec.options):
        return []
    return gvisor_node.kernel_processes(cgroups.group_of(node.init_pid))


def _comes_after_its_link(spec: NodeSpec) -> bool:
    return spec.network.switch is not None and _is_sandbox(spec)


def _run(spec: NodeSpec, words: list[str]) -> Node:
    try:
        pid, driver = _started(words)
    except NodeError:
        docker_shims.distrust(spec)
        raise
    facts = {"storage driver": driver or "not told"} if engine.has_own_storage(spec.options) else {}
    return Node(
        spec=spec,
        init_pid=process_id(pid, "docker inspect"),
        variables=gvisor_node.MPI_VARIABLES if _is_gvisor(spec.options) else {},
        facts=facts,
        own_kernel=_is_sandbox(spec),
    )


def _started(words: Sequence[str]) -> tuple[str, str]:
    """The container's first process and its storage driver."""
    run = ["docker", "run", "--detach", "--pull", "never", "--cgroup-parent", _parent_group(), *words]
    done = process.run_checked(run, timeout_s=120)
    form = (
        "{{.State.Pid}} {{with .GraphDriver}}{{.Name}}{{end}}"  # containerd's own image store names no driver
    )
    shown = process.run_checked(["docker", "inspect", "--format", form, done.stdout.strip()])
    pid, _, driver = shown.stdout.strip().partition(" ")
    return pid, driver


def _words(spec: NodeSpec) -> list[str]:
    """The words of ``docker run`` about the node itself."""
    runtime = spec.options.get("runtime")
    return [
        *("--name", spec.name, *engine.identified(spec)),
        *([] if runtime is None else ["--runtime", str(runtime)]),
        *(*_network(spec), *engine.limits(_with_room(spec)), *engine.seccomp(spec), *engine.devices(spec)),
        *(*engine_arguments.words(spec.options), *_root(spec)),
    ]


def _with_room(spec: NodeSpec) -> NodeSpec:
    """The node with room for a sandbox's own threads, which are in the container's group."""
    return replace(spec, bounds=with_sandbox(spec.bounds)) if _is_sandbox(spec) else spec


@cache
def _parent_group() -> str:
    """The parent of all environments' nodes: below Docker's own parent, they would have another weight."""
    driver = process.run_checked(["docker", "info", "--format", "{{.CgroupDriver}}"]).stdout.strip()
    return f"{cgroups.PARENT}.slice" if driver == "systemd" else f"/{cgroups.PARENT}"


def _pause_words(spec: NodeSpec) -> list[str]:
    """The same for the container whose network the node joins; the node's host name comes from it too."""
    return [
        *("--name", f"{spec.name}-{_PAUSE}", *engine.identified(spec, _PAUSE)),
        *("--runtime", "runc", "--hostname", spec.name, "--network", "none"),
        *("--memory", str(_PAUSE_BYTE), "--memory-swap", str(_PAUSE_BYTE), *_root(spec)),
    ]


def _network(spec: NodeSpec) -> list[str]:
    if _comes_after_its_link(spec):
        return ["--network", f"container:{engine.identity(spec, _PAUSE)}"]
    named = ["--hostname", spec.name]
    match spec.network.kind:
        case NetworkKind.HOST:
            return [*named, "--network", "host"]
        case NetworkKind.DEFAULT:
            return named
        case _:  # the link follows
            return [*named, "--network", "none"]


def _root(spec: NodeSpec) -> list[str]:
    """Mounts, image and command."""
    if engine.has_own_storage(spec.options):
        over, image = [], engine_images.reference(spec.image_digest)
    else:
        over, image = outline.mounts(spec, spec.directory / "root"), outline.reference(spec.image_root)
    return [*over, *engine.shared_mounts(spec), image, f"{TOOLS_DIRECTORY}/init"]
