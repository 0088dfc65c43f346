# SPDX-License-Identifier: Apache-2.0
"""crun(1), started by hand: the OCI runtime that Podman uses with version 2 of control groups."""

from pathlib import Path

from tare.engines.oci_runtime import OciRuntime
from tare.nodes.provider import NodeSpec

_UNIFIED = Path("/sys/fs/cgroup/unified")
_HIDING = f'mount -t tmpfs tmpfs {_UNIFIED} && exec "$@"'


class Crun(OciRuntime):
    technology = "crun"
    package = "crun"

    def runtime(self, spec: NodeSpec) -> list[str]:
        """The program without control groups of its own: the node is in Tare's."""
        return [*hiding(), *super().runtime(spec), "--cgroup-manager=disabled"]


def hiding() -> list[str]:
    """The prefix that hides control groups version 2 where version 1 is mounted too: crun refuses both at once."""
    return ["unshare", "--mount", "--", "sh", "-c", _HIDING, "sh"] if _UNIFIED.is_dir() else []
