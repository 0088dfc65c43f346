# SPDX-License-Identifier: Apache-2.0
"""``tare weigh``: the user's own command, natively and in every environment here."""

import os
from dataclasses import dataclass
from pathlib import Path

from tare.commands.run import budget_s, new_folder, run_and_show
from tare.environments import PROVIDERS
from tare.errors import ExitCode, InputError
from tare.host.facts import memory_byte, online_processors
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.plan.campaign import Campaign, asked_user
from tare.plan.problems import nearest
from tare.plan.schema import Host, parse_layout
from tare.plan.written import normal_bind, parse_bind
from tare.records import (
    NATIVE,
    USUAL_BOUNDS,
    USUAL_MARGIN,
    Environment,
    Layout,
    Limits,
    NetworkKind,
    Way,
    Workload,
)
from tare.units import GIBIBYTE, MEBIBYTE

_DEFAULT_BLOCKS = 10
_NOT_BY_DEFAULT = {NATIVE, "chroot", "custom", "fake", "ssh"}
"""Names that are no environment by themselves, or need options that only a campaign file can give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighOptions:
    """Options from the command line."""

    command: tuple[str, ...]
    environments: tuple[str, ...]
    binds: tuple[str, ...]
    layout: str | None
    network: str | None
    mpi: bool
    threads: int
    profile: bool
    whole: bool
    turns: bool
    blocks: int | None
    budget: str | None
    seed: int | None
    user: str | None = None


def run_weigh(options: WeighOptions, output: Path | None, image_name: str, as_json: bool) -> ExitCode:
    """Weigh, and end with one sentence for each environment."""
    folder = ResultFolder(output or new_folder("weigh"))
    return run_and_show(
        Request(campaign=_campaign(options), folder=folder, image_name=image_name, pilot=True),
        as_json=as_json,
    )


def _campaign(options: WeighOptions) -> Campaign:
    binds = tuple(_bind(text) for text in options.binds)
    if not options.mpi and (options.profile or options.threads > 1):
        raise InputError("--profile and --threads are for an MPI program: add --mpi")
    workload: dict[str, str | list[str] | bool | int] = {
        "argv": list(options.command),
        "mpi": options.mpi,
        "threads": options.threads,
        "profile": options.profile,
        "turns": options.turns,
    }
    if options.turns and (options.whole or options.profile):
        raise InputError("--turns goes neither with --whole nor with --profile")
    layout, network = _layout(options), _network(options.network)
    if directory := _directory(binds):
        workload["directory"] = directory
    return Campaign(
        name="weigh",
        environments=tuple(
            Environment(name=name, technology=name, network=network) for name in _technologies(options)
        ),
        layouts=(layout,),
        workloads=(
            Workload(
                name=Path(options.command[0]).name,
                kind="command",
                options=workload,
                way=_way(options),
            ),
        ),
        limits=Limits(
            memory_byte=max(GIBIBYTE, memory_byte() // 2),
            shm_byte=256 * MEBIBYTE,
            time_s=3600.0,
            bounds=USUAL_BOUNDS,
        ),
        blocks=options.blocks or _DEFAULT_BLOCKS,
        margin=USUAL_MARGIN,
        budget_s=budget_s(options.budget),
        seed=options.seed,
        user=None if options.user is None else asked_user(options.user),
        binds=binds,
    )


def _way(options: WeighOptions) -> Way:
    if options.turns:
        return Way.SLICES
    return Way.WHOLE if options.whole or options.profile else Way.FREEZER


def _technologies(options: WeighOptions) -> list[str]:
    for name in options.environments:
        if name not in PROVIDERS:
            raise InputError(f"--env: unknown technology {name!r}{nearest(name, PROVIDERS)}")
    return list(dict.fromkeys(options.environments)) or [
        name for name in PROVIDERS if name not in _NOT_BY_DEFAULT
    ]


def _layout(options: WeighOptions) -> Layout:
    processors = len(online_processors())
    if options.layout is None:
        return Layout(nodes=1, processors=processors, instances=1)
    try:
        layout = parse_layout(options.layout, Host(processors, memory_byte()))
    except ValueError as error:
        raise InputError(f"--layout: {error}") from error
    if layout.cooperative and not options.mpi:
        raise InputError(
            f"--layout: in {layout} an instance spans nodes, which takes an MPI program: add --mpi"
        )
    return layout


def _network(text: str | None) -> NetworkKind | None:
    if text is None:
        return None
    if text not in list(NetworkKind):
        raise InputError(
            f"--network: {text!r} is none of {', '.join(NetworkKind)}{nearest(text, NetworkKind)}"
        )
    return NetworkKind(text)


def _bind(text: str) -> str:
    try:
        return normal_bind(text)
    except ValueError as error:
        raise InputError(f"--bind: {error}") from error


def _directory(binds: tuple[str, ...]) -> str | None:
    """The current directory if it lies in a bound one, so that relative paths work as in the user's shell."""
    here = Path(os.getcwd())  # noqa: PTH109 - as resolved by the kernel
    inside = any(here.is_relative_to(parse_bind(bind).path) for bind in binds)
    return str(here) if inside else None
