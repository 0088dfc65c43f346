# SPDX-License-Identifier: Apache-2.0
"""What runsc is told of a node: the configuration of an OCI bundle (OCI Runtime Specification, config.md)."""

from pathlib import Path
from typing import Any

from tare.environments import engine
from tare.nodes import layer
from tare.nodes.provider import TOOLS_DIRECTORY, WORK_DIRECTORY, NodeSpec
from tare.records import NetworkKind

_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CAPABILITIES = [
    f"CAP_{name}"
    for name in (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
]
"""Those of a container's root, as Docker grants them."""

_NAMESPACES = ("pid", "mount", "ipc", "uts")


def configuration(spec: NodeSpec, root: Path) -> dict[str, Any]:
    """The node: root directory, limits of its own kind, and the idle first process."""
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": [f"{TOOLS_DIRECTORY}/init"],
            "env": [_PATH],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), _CAPABILITIES),
        },
        "root": {"path": str(root)},
        "hostname": spec.name,
        "mounts": _mounts(spec, root),
        "linux": {"namespaces": [*({"type": kind} for kind in _NAMESPACES), *_network(spec)]},
    }


def _network(spec: NodeSpec) -> list[dict[str, str]]:
    """The namespace that was made for the node, the host's, or gVisor's default: a new and empty one."""
    if spec.network.namespace is not None:
        return [{"type": "network", "path": str(spec.network.namespace)}]
    return [] if spec.network.kind is NetworkKind.HOST else [{"type": "network"}]


def _mounts(spec: NodeSpec, root: Path) -> list[dict[str, Any]]:
    shm = ["nosuid", "nodev", "mode=1777", f"size={spec.shm_byte}"]
    found: list[dict[str, Any]] = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro", "nosuid", "nodev"]},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
        {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": shm},
        _bind(spec.work, WORK_DIRECTORY, writable=True),
    ]
    if not engine.has_own_storage(spec.options) and _is_plain_folder(root / "tmp"):
        # An empty /tmp would get a file system in gVisor's own memory, and so another medium than the rest.
        found.append(_bind(root / "tmp", "/tmp", writable=True))
    return found + [
        _bind(src, str(one.path), writable=one.writable) for src, one in layer.bound_sources(spec)
    ]


def _is_plain_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _bind(source: Path, target: str, *, writable: bool) -> dict[str, Any]:
    options = ["rbind", "rw" if writable else "ro"]
    return {"destination": target, "type": "bind", "source": str(source), "options": options}
