# SPDX-License-Identifier: Apache-2.0
"""The tables of a campaign file, as pydantic models; docs/campaign.md explains each key to users."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from tare.plan.blocks import BlocksTable, Count, DecisionTable, StrictTable, one_or_several
from tare.plan.problems import shown
from tare.plan.turns import TurnsTable
from tare.plan.written import duration_s, normal_bind, normal_device, quantity, text_of, whole_ms
from tare.records import (
    ORDINARY,
    USUAL_OPEN_FILES,
    USUAL_PROCESSES,
    Bounds,
    Exclude,
    Layout,
    Limits,
    MpiLauncher,
    NetworkKind,
    Storage,
    check_user,
)
from tare.units import GIBIBYTE, MEBIBYTE, format_byte, parse_byte

LARGEST_SEED = 2**63 - 1
MOST_NODES = 200
MOST_OVERSUBSCRIPTION = MOST_NODES
MOST_ITERATIONS = 1000
MOST_VALUES = 100
MOST_LEVELS = 30
DEFAULT_BOOTS = 6
USUAL_OVERSUBSCRIPTION = 16
_DEFAULT_MEMORY_BYTE = 2 * GIBIBYTE
_DEFAULT_SHM_BYTE = 256 * MEBIBYTE
_DEFAULT_TIME_S = 600.0
LEAST_MEMORY_BYTE = 16 * MEBIBYTE
_LEAST_CPU_QUOTA = 0.01
"""1 ms in each 100 ms: the kernel's shortest quota (sched-bwc: min_cfs_quota_period)."""
LEAST_PROCESSES = 32
"""Leaves room beside a technology's own few processes."""
_MOST_PROCESSES = 1 << 22
"""The kernel's maximum (PID_MAX_LIMIT)."""
_LEAST_FILES, _MOST_FILES = 64, 1 << 30
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_LAYOUT_INSIDE = re.compile(r"(?:^|-)\d+c\d+p\d+i(?:-|$)")


@dataclass(frozen=True, slots=True)
class Host:
    """The host that a campaign must fit."""

    processors: int
    memory_byte: int
    oversubscribe: int = USUAL_OVERSUBSCRIPTION
    """How many of the processors that a layout asks for may share one of the host's, as the campaign states it."""
    hosts: int = 1
    """How many hosts of this size there are."""

    @property
    def most_processors(self) -> int:
        return self.oversubscribe * self.processors


def stated_host(host: Host, data: Mapping[str, Any]) -> Host:
    """The host with what the campaign states of it; a wrong value is for the whole table's validation to tell."""
    stated = data.get("oversubscribe")
    if isinstance(stated, bool) or not isinstance(stated, int) or not 1 <= stated <= MOST_OVERSUBSCRIPTION:
        return host
    return replace(host, oversubscribe=stated)


def _slug(value: object) -> str:
    text = text_of(value, "my-name")
    if not _SLUG.fullmatch(text) or ".." in text:
        raise ValueError(
            f"{shown(text)} is not a name; write at most 40 letters, digits, '-', '_' or '.', "
            "a letter or digit first"
        )
    if _LAYOUT_INSIDE.search(text):
        raise ValueError(f"{shown(text)} looks like a layout, which would make trial identities ambiguous")
    return text


def _memory_byte(value: object, info: ValidationInfo) -> float:
    memory_byte = quantity(parse_byte, "2 GiB")(value)
    host = _host(info)
    if memory_byte > host.memory_byte * host.hosts:
        whose = "this host's" if host.hosts == 1 else f"what {host.hosts} hosts have, at least"
        raise ValueError(f"{shown(value)} is more than {whose} {format_byte(host.memory_byte * host.hosts)}")
    if memory_byte < LEAST_MEMORY_BYTE:
        raise ValueError(
            f"{shown(value)} is too little to start anything; give {_mebibyte(LEAST_MEMORY_BYTE)} or more"
        )
    return memory_byte


def _layout(value: object, info: ValidationInfo) -> Layout:
    return parse_layout(text_of(value, "1c2p1i"), _host(info))


def parse_layout(text: str, host: Host) -> Layout:
    """Parse ``NcMpKi``; ``ValueError`` if it is malformed, cannot be divided equally, or exceeds the host."""
    try:
        layout = Layout.parse(text)
    except ValueError:
        raise ValueError(
            f"{shown(text)} is not a layout; write NcMpKi, such as 1c2p1i, or 8c2p1i on 4 hosts as 8c2p1i on 4"
        ) from None
    if problem := size_problem(layout, host):
        raise ValueError(f"{shown(text)} {problem}")
    if layout.instances not in (allowed := _instance_counts(layout)):
        raise ValueError(
            f"{shown(text)}: {layout.instances} instances cannot share {_nodes(layout.nodes)} of "
            f"{layout.processors} processors equally; allowed: {', '.join(map(str, allowed))}"
        )
    return layout


def size_problem(layout: Layout, host: Host) -> str | None:
    """Say why the host cannot hold so many nodes or processors; ``None`` when it can."""
    if layout.hosts > host.hosts:
        have = "this host alone" if host.hosts == 1 else f"{host.hosts} hosts"
        return f"is on {layout.hosts} hosts, and the campaign has {have}; add [[host]] tables"
    if layout.nodes % layout.hosts:
        return f"cannot have as many nodes on each of {layout.hosts} hosts; give a multiple of {layout.hosts}"
    if layout.nodes_per_host > MOST_NODES:
        each = " on each host" if layout.hosts > 1 else ""
        return f"has {layout.nodes_per_host} nodes{each}; at most {MOST_NODES} are possible"
    wanted = layout.as_native.processors
    if wanted > host.most_processors:
        least = -(-wanted // host.processors)
        more = f"; oversubscribe = {least} in a campaign lets more" if least <= MOST_OVERSUBSCRIPTION else ""
        where = "this host offers" if host.hosts == 1 else "its smallest host offers"
        return (
            f"needs {wanted} processors{' on each host' if layout.hosts > 1 else ''}, and {where} {host.processors}; "
            f"at most {host.oversubscribe} may share one{more}"
        )
    return None


def _nodes(count: int) -> str:
    return "one node" if count == 1 else f"{count} nodes"


def _instance_counts(layout: Layout) -> list[int]:
    """Valid instance counts: whole nodes shared equally, or equally many instances of whole processors per node.

    On several hosts native, with a node on each, must be able to share them equally too.
    """
    spanning = [count for count in range(1, layout.nodes) if layout.nodes % count == 0]
    inside = [
        layout.nodes * part for part in range(1, layout.processors + 1) if layout.processors % part == 0
    ]
    hosts = layout.hosts
    return [count for count in spanning + inside if count % hosts == 0 or hosts % count == 0]


def _host(info: ValidationInfo) -> Host:
    context = info.context
    if not isinstance(context, Host):
        raise TypeError("a campaign is validated for a host")
    return context


_Choice = TypeVar("_Choice", bound=StrEnum)


def _choice(kind: type[_Choice]) -> Callable[[object], _Choice]:
    def validate(value: object) -> _Choice:
        text = text_of(value, next(iter(kind)))
        if text not in list(kind):
            raise ValueError(f"must be one of {', '.join(kind)}, but is {shown(text)}")
        return kind(text)

    return validate


def _limit(value: object) -> float | None:
    if value == "off":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f'must be a number above 0, or "off", but is {shown(value)}')
    return float(value)


def _core_byte(value: object) -> int:
    """Parse a size, or 0 for none."""
    return 0 if value == 0 and not isinstance(value, bool) else int(quantity(parse_byte, "1 GiB")(value))


def _mebibyte(size_byte: int) -> str:
    return f"{size_byte // MEBIBYTE} MiB"


def _user(value: object) -> str:
    return check_user(text_of(value, ORDINARY))


Slug = Annotated[str, BeforeValidator(_slug)]
Duration = Annotated[float, BeforeValidator(duration_s)]
Memory = Annotated[int, BeforeValidator(_memory_byte)]
Size = Annotated[int, BeforeValidator(quantity(parse_byte, "256 MiB"))]
Network = Annotated[NetworkKind, BeforeValidator(_choice(NetworkKind))]
Limit = Annotated[float | None, BeforeValidator(_limit)]
LayoutText = Annotated[Layout, BeforeValidator(_layout)]
Oversubscribe = Annotated[int, Field(ge=1, le=MOST_OVERSUBSCRIPTION)]


class LimitsTable(StrictTable):
    """``[limits]``: the same for every environment, including native."""

    memory: Memory | None = None
    memory_per_node: Memory | None = None
    memory_per_host: Memory | None = None
    shm: Size | None = None
    cpu_quota: float | None = Field(default=None, ge=_LEAST_CPU_QUOTA, allow_inf_nan=False)
    time: Duration = _DEFAULT_TIME_S
    storage: Annotated[Storage, BeforeValidator(_choice(Storage))] = Storage.TMPFS
    processes: int = Field(default=USUAL_PROCESSES, ge=LEAST_PROCESSES, le=_MOST_PROCESSES)
    open_files: int = Field(default=USUAL_OPEN_FILES, ge=_LEAST_FILES, le=_MOST_FILES)
    output: Size | None = None
    disk: Size | None = None
    core: Annotated[int, BeforeValidator(_core_byte)] = 0

    @model_validator(mode="after")
    def _shm_fits(self, info: ValidationInfo) -> Self:
        if sum(each is not None for each in (self.memory, self.memory_per_node, self.memory_per_host)) > 1:
            raise ValueError(
                "memory is of all nodes together, memory_per_node of each, and memory_per_host of those on a host: "
                "give one of them"
            )
        if self.shm is None:
            return self
        stated_byte = self.memory_per_node or self.memory_per_host or self.memory
        memory_byte = stated_byte or default_memory_byte(_host(info))
        if self.shm > memory_byte:
            raise ValueError(
                f"shm of {format_byte(self.shm)} is more than the memory of {format_byte(memory_byte)}"
            )
        return self

    def limits(self, host: Host, nodes: int = 1) -> Limits:
        """The limits where the largest layout has as many ``nodes``."""
        memory_byte = self.memory_per_host or self.memory or default_memory_byte(host)
        if self.memory_per_node is not None:
            memory_byte = nodes * self.memory_per_node
        shm_byte = self.shm or min(_DEFAULT_SHM_BYTE, (self.memory_per_node or memory_byte) // 2)
        return Limits(
            memory_byte=memory_byte,
            node_memory_byte=self.memory_per_node,
            host_memory_byte=self.memory_per_host,
            shm_byte=shm_byte,
            cpu_quota=self.cpu_quota,
            time_s=self.time,
            storage=self.storage,
            bounds=Bounds(
                processes=self.processes,
                open_files=self.open_files,
                output_byte=self.output,
                disk_byte=self.disk,
                core_byte=self.core,
            ),
        )


class ExcludeTable(StrictTable):
    """``[exclude]``: thresholds for excluding a trial, whatever it measured; "off": never for this reason."""

    foreign_load: Limit = Exclude().foreign_load
    frequency_change: Limit = Exclude().frequency_change
    temperature_c: Limit = Exclude().temperature_c

    def rules(self) -> Exclude:
        return Exclude(
            foreign_load=self.foreign_load,
            frequency_change=self.frequency_change,
            temperature_c=self.temperature_c,
        )


def default_memory_byte(host: Host) -> int:
    """2 GiB, or half of a smaller host in whole MiB."""
    return min(_DEFAULT_MEMORY_BYTE, host.memory_byte // 2 // MEBIBYTE * MEBIBYTE)


class CampaignTable(StrictTable):
    """The whole file; its lists of tables are validated one by one in ``entries`` and ``experiments``."""

    name: Slug
    seed: int | None = Field(default=None, ge=0, le=LARGEST_SEED)
    user: Annotated[str, BeforeValidator(_user)] | None = None
    blocks: BlocksTable = BlocksTable()
    budget: Duration | None = None
    decision: DecisionTable = DecisionTable()
    layouts: list[LayoutText] | None = Field(default=None, min_length=1)
    oversubscribe: Oversubscribe = USUAL_OVERSUBSCRIPTION
    fit: bool = False
    """Whether what this host cannot do is made smaller or left out (``plan/fitting``)."""
    limits: LimitsTable = LimitsTable()
    exclude: ExcludeTable = ExcludeTable()
    turns: TurnsTable = TurnsTable()
    networks: list[Network] | None = Field(default=None, min_length=1)
    """Every environment without its own network is measured in each of these."""
    binds: list[Annotated[str, AfterValidator(normal_bind)]] = Field(default_factory=list)
    devices: list[Annotated[str, AfterValidator(normal_device)]] = Field(default_factory=list)
    subnet: str | None = None
    """Address range in which the hosts reach each other."""
    mpi_launcher: Annotated[MpiLauncher, BeforeValidator(_choice(MpiLauncher))] = MpiLauncher.TARE
    host: Any = None
    hosts: Any = None
    environment: Any = None
    workload: Any = None
    sharing: Any = None
    order: Any = None
    factor: Any = None


class EnvironmentTable(BaseModel):
    """``[[environment]]``; every further key is an option of the technology."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    technology: str
    name: Slug | None = None
    network: Network | None = None
    rto_min: Annotated[float, BeforeValidator(whole_ms)] | None = None
    measure: bool = True


class WorkloadTable(BaseModel):
    """``[[workload]]``; every further key is an option of the kind."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    name: Slug | None = None
    kind: str | None = None
    measure: bool = True
    layouts: list[str] | None = Field(default=None, min_length=1)
    iterations: Annotated[int, Field(ge=1, le=MOST_ITERATIONS)] = 1
    primary: Annotated[list[str], BeforeValidator(one_or_several)] | None = Field(default=None, min_length=1)
    ranges: dict[Annotated[str, Field(min_length=1, max_length=80)], dict[str, object]] = Field(
        default_factory=dict
    )


class SharingTable(StrictTable):
    """``[[sharing]]``; the neighbour's table is validated separately."""

    alone: LayoutText
    together: list[LayoutText] | None = Field(default=None, min_length=1)
    neighbour: Any = None
    workloads: list[str] | None = Field(default=None, min_length=1)


class OrderTable(StrictTable):
    """``[[order]]``: one option's values, run in several orders within one start (docs/order.md)."""

    workload: str
    option: str
    values: list[int | float] = Field(min_length=2, max_length=MOST_VALUES)
    boots: Count = DEFAULT_BOOTS
    layout: LayoutText | None = None
    metrics: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.values)) < len(self.values):
            raise ValueError(f"values holds one twice: {shown(self.values)}; keep each once")
        return self


class FactorTable(StrictTable):
    """``[[factor]]``: a key in several levels (docs/factors.md)."""

    key: str = Field(min_length=1, max_length=80)
    levels: list[Any] = Field(min_length=2, max_length=MOST_LEVELS)


class NeighbourTable(StrictTable):
    """``neighbour = { ... }`` of a ``[[sharing]]``."""

    workload: str
    environment: str | None = None
    count: Annotated[int, Field(ge=1, le=MOST_NODES)] = 1
