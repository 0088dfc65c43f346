# SPDX-License-Identifier: Apache-2.0
"""Native: the host's own kernel, devices, network and process ids, in the image by chroot(2), under the same limits.

``chroot`` is the same as a separate environment: it follows the given layout and network, where native is always one
node on the host's network. The difference between the two is the cost of a network namespace alone.

``host`` has the host's own files instead of the image's (``tare.nodes.host_root``): what a command takes with the
software that the host has today. It differs from native by software alone, and from a container by both.

An ordinary user may mount or change the root directory only in a user namespace, and so gets one.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tare.host import process
from tare.host.privileges import ordinary_user
from tare.nodes import confined, host_root, layer, root_mounts, unprivileged
from tare.nodes.provider import MADE_NETWORKS, Node, NodeSpec, Probe, Shared
from tare.nodes.unprivileged import AlsoUnprivileged
from tare.records import HOST_FILES, NATIVE, NetworkKind, OptionValue

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\0]*", re.DOTALL)
_HIDDEN = "not shown of the host"
_PRELOADS = ("LD_PRELOAD", "LD_AUDIT")


class Native(AlsoUnprivileged):
    technology = NATIVE
    device_refusal = None
    option_names: Mapping[str, str] = {}
    networks = frozenset({NetworkKind.HOST})
    shares = frozenset({Shared.HOST_NAME, Shared.PROCESS_IDS})

    def probe(self) -> Probe:
        return unprivileged.probe() if ordinary_user() else confined.probe_root()

    def start(self, spec: NodeSpec) -> Node:
        if ordinary_user():
            return unprivileged.start(spec)
        layer.prepare(spec)
        root = self._mount_root(spec)
        root_mounts.mount_system(spec, root)
        root_mounts.mount_shared(spec, root)
        group = confined.create_group(spec)
        held = confined.begin(spec, group, spec.network.namespace)
        process.start_idle(
            [*held, "chroot", str(root), *confined.attending_init(spec)], log=spec.directory / "init.log"
        )
        confined.withdraw_socket(spec)
        return Node(spec=spec, init_pid=confined.only_process(group))

    def _mount_root(self, spec: NodeSpec) -> Path:
        return layer.mount_root(spec)

    def prefix(self, node: Node) -> list[str]:
        """A command is a child of the node's first process, as in a container.

        It is in the control groups from its first instruction.
        """
        if ordinary_user():
            return unprivileged.enter_image(node)
        return confined.enter_attended(node.spec)


class Chroot(Native):
    technology = "chroot"
    networks = MADE_NETWORKS | {NetworkKind.HOST, NetworkKind.DEFAULT}


class OnHostFiles(Chroot):
    technology = HOST_FILES
    option_names: Mapping[str, str] = {
        "variables": "a list of NAME=VALUE that its commands alone get, such as the PATH that a loaded module has set"
    }

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        stated = options.get("variables", [])
        if isinstance(stated, list) and all(_ASSIGNMENT.fullmatch(entry) for entry in stated):
            return {}
        return {"variables": f"must be a list of NAME=VALUE, but is {stated!r}"}

    def start(self, spec: NodeSpec) -> Node:
        node = unprivileged.start(spec, of_host=True) if ordinary_user() else super().start(spec)
        noted = spec.directory / host_root.HIDDEN_FILE
        hidden = {_HIDDEN: noted.read_text()} if noted.exists() else {}
        stated = spec.options.get("variables", [])
        variables = dict(entry.split("=", 1) for entry in stated) if isinstance(stated, list) else {}
        loaded = " ".join(filter(None, map(variables.get, _PRELOADS)))
        preloaded = {"preloaded libraries": loaded} if loaded else {}
        return replace(
            node, variables=variables, host_files=True, facts={**node.facts, **hidden, **preloaded}
        )

    def _mount_root(self, spec: NodeSpec) -> Path:
        root = spec.directory / "root"
        root.mkdir()
        host_root.mount(spec, root)
        return root
