# SPDX-License-Identifier: Apache-2.0
"""Docker: the image imported once by its digest, one container a node, found again by our label alone."""

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from tare.environments import layer
from tare.environments.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, Node, NodeSpec, Probe, Provider
from tare.errors import NodeError
from tare.host import process

_LABEL = "tare.node"
_IMAGE_LABEL = "tare.image"
_STARTING_LIMIT_S = 15.0
_REMOVAL_LIMIT_S = 30.0
_IMPORT_LIMIT_S = 600.0


class Docker(Provider):
    technology = "docker"
    makes_namespace = True
    option_names: Mapping[str, str] = {}

    def probe(self) -> Probe:
        try:
            done = _version()
        except NodeError:
            return Probe(
                usable=False, reason="the docker command is missing", remedy="apt-get install docker.io"
            )
        if done.code != 0:
            remedy = "start the daemon (systemctl start docker, or dockerd as root)"
            return Probe(
                usable=False, reason=f"the Docker daemon does not answer: {done.last_words}", remedy=remedy
            )
        return Probe(usable=True, version=done.stdout.strip())

    def prepare(self, image_root: Path, image_digest: str) -> None:
        reference = _reference(image_digest)
        if process.run(["docker", "image", "inspect", "--format", "{{.Id}}", reference]).code != 0:
            _import(image_root, reference)

    def start(self, spec: NodeSpec) -> Node:
        layer.prepare(spec)
        process.run_checked(_docker_run(spec), timeout_s=120)
        form = (
            "{{.State.Pid}} {{with .GraphDriver}}{{.Name}}{{end}}"  # containerd's own image store names none
        )
        done = process.run_checked(["docker", "inspect", "--format", form, spec.name])
        pid, _, driver = done.stdout.strip().partition(" ")
        return Node(spec=spec, init_pid=int(pid), facts={"storage driver": driver or "not told"})

    def prefix(self, node: Node) -> list[str]:
        return ["docker", "exec", "--interactive", node.spec.name]

    def stop(self, spec: NodeSpec) -> None:
        if (spec.directory / "layer").exists():
            _remove_container(spec)
        layer.remove(spec)


def _remove_container(spec: NodeSpec) -> None:
    """By our label, never by name alone; until Docker lists it no more, as another removal may be on its way."""
    deadline = time.monotonic() + _REMOVAL_LIMIT_S
    while identities := _containers(spec):
        done = process.run(["docker", "rm", "--force", "--volumes", *identities])
        if done.code == 0:
            return
        if time.monotonic() > deadline:
            raise NodeError(f"Docker does not remove the container {spec.name}: {done.last_words}")
        time.sleep(0.1)


def _containers(spec: NodeSpec) -> list[str]:
    ask = ["docker", "ps", "--all", "--quiet", "--filter", f"label={_LABEL}={spec.name}"]
    done = process.run(ask)
    if done.code != 0 and _version().code == 0:
        done = process.run(ask)  # the daemon was being started, and is there now
    if done.code != 0:
        raise NodeError(f"cannot ask Docker for the container {spec.name}: {done.last_words}")
    return done.stdout.split()


def _version() -> process.Completed:
    """The daemon's version; a daemon that is being started beside us is waited for."""
    deadline = time.monotonic() + (_STARTING_LIMIT_S if os.environ.get("TARE_DOCKERD_STARTING") else 0.0)
    while True:
        done = process.run(["docker", "version", "--format", "{{.Server.Version}}"], timeout_s=5)
        if done.code == 0 or time.monotonic() > deadline:
            return done
        time.sleep(0.05)


def _reference(image_digest: str) -> str:
    return f"tare:{image_digest.removeprefix('sha256:')[:24]}"


def _docker_run(spec: NodeSpec) -> list[str]:
    quota = (
        []
        if spec.cpu_quota is None
        else ["--cpu-period", "100000", "--cpu-quota", str(round(spec.cpu_quota * 1e5))]
    )
    return [
        *("docker", "run", "--detach", "--pull", "never", "--name", spec.name, "--hostname", spec.name),
        *("--label", f"{_LABEL}={spec.name}", "--network", "none"),
        *("--cpuset-cpus", ",".join(map(str, spec.processors)), *quota),
        *("--memory", str(spec.memory_byte), "--memory-swap", str(spec.memory_byte)),
        *("--shm-size", str(spec.shm_byte)),
        *("--mount", _mount(spec.work, WORK_DIRECTORY, writable=True)),
        *_binds(spec),
        *(_reference(spec.image_digest), f"{TOOLS_DIRECTORY}/init"),
    ]


def _binds(spec: NodeSpec) -> list[str]:
    parts: list[str] = []
    for source, bound in layer.bound_sources(spec):
        parts += ["--mount", _mount(source, str(bound.path), writable=bound.writable)]
    return parts


def _mount(source: Path, target: str, *, writable: bool) -> str:
    """One line of CSV (RFC 4180), as ``docker run --mount`` reads it: a path may hold commas and colons."""
    fields = ["type=bind", f"source={source}", f"target={target}", *([] if writable else ["readonly"])]
    quoted = [field.replace('"', '""') for field in fields]
    return ",".join(f'"{field}"' for field in quoted)


def _import(image_root: Path, reference: str) -> None:
    pack = ["tar", "--numeric-owner", "--xattrs", "-C", str(image_root), "-c", "."]
    load = ["docker", "import", "--change", f"LABEL {_IMAGE_LABEL}=1", "-", reference]
    environment = process.tool_environment()
    with subprocess.Popen(pack, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as packer:
        try:
            done = subprocess.run(
                load,
                stdin=packer.stdout,
                capture_output=True,
                timeout=_IMPORT_LIMIT_S,
                check=False,
                env=environment,
            )
        except subprocess.TimeoutExpired as error:
            raise NodeError(f"Docker did not import the image within {_IMPORT_LIMIT_S:.0f} s") from error
    if done.returncode != 0 or packer.returncode != 0:
        # Half an image must not be taken for one by the next run.
        process.run(["docker", "image", "rm", "--force", reference])
        said = done.stderr.decode(errors="replace").strip() or f"tar ended with {packer.returncode}"
        raise NodeError(f"Docker cannot import the image: {said}")
