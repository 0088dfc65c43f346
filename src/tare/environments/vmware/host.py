# SPDX-License-Identifier: Apache-2.0
"""A machine's ESXi host, as far as its limits depend on it (vSphere's HostSystem, ClusterComputeResource)."""

from dataclasses import dataclass
from typing import Any, Self

from tare.environments.vmware.described import properties
from tare.environments.vmware.govc import Govc
from tare.host.told import part

_PROPERTIES = ("summary.hardware.cpuMhz", "summary.config.product.fullName", "parent")
_CLUSTER = "ClusterComputeResource"


@dataclass(frozen=True, slots=True, kw_only=True)
class EsxiHost:
    """One ESXi host."""

    megahertz: int
    """One processor's speed: the unit of vSphere's limits."""
    product: str
    moves_machines: bool
    """Whether it is in a cluster that moves machines by itself (DRS), which cannot keep them to processors."""

    @classmethod
    def of(cls, govc: Govc, reference: str) -> Self:
        """Read it; ``NodeError`` if it does not report its properties."""
        known = properties(govc.ask("object.collect", "-json", reference, *_PROPERTIES))
        megahertz = part(int, known.get(_PROPERTIES[0]), f"{reference} of its processors' speed")
        parent = part(dict[str, Any], known.get("parent"), f"{reference} of where it belongs")
        cluster = f"{_CLUSTER}:{parent.get('value')}" if parent.get("type") == _CLUSTER else None
        return cls(
            megahertz=megahertz,
            product=str(known.get(_PROPERTIES[1]) or "ESXi"),
            moves_machines=cluster is not None and _has_drs(govc, cluster),
        )


def _has_drs(govc: Govc, cluster: str) -> bool:
    known = properties(govc.ask("object.collect", "-json", cluster, "configurationEx")).get("configurationEx")
    settings = known.get("drsConfig") if isinstance(known, dict) else None
    return isinstance(settings, dict) and settings.get("enabled") is True
