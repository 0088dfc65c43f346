# SPDX-License-Identifier: Apache-2.0
"""How a trial differs from the point of a paper's preset that it stands for: a campaign's name says nothing of that."""

from collections.abc import Container, Iterable, Iterator, Mapping

from tare.analyze.roles import USUAL, in_role
from tare.records import NATIVE, Environment, Limits, NetworkKind, OptionValue, Trial
from tare.records.published import ClaimPlace, PresetCell, PresetMatrix
from tare.units import format_byte

OTHERWISE = "otherwise than the paper: "
UNSET = "unset"
"""As an option's value: the campaign must not give it."""
REACH = frozenset(
    (
        *("host", "subnet", "ssh_options", "state", "python", "become", "boot_limit", "system_memory"),
        *("vm", "domain", "snapshot", "connection", "url", "username", "password_file", "ca_certificates"),
        *("known_hosts", "insecure", "datacenter", "folder", "pool", "datastore", "network", "govc"),
    )
)
"""Options that say where a machine is and how it is reached."""
_IN_FACTS = frozenset({"accelerator"})
"""Options whose effect is in the trials' facts."""


def environment_differs(role: str, environment: Environment, trial: Trial, asked: PresetMatrix) -> list[str]:
    """From the preset's nearest environment in this role; native is native."""
    if environment.technology == NATIVE:
        return []
    own = [each for each in asked.environments if in_role(role, each)]
    return _least(list(_of_environment(environment, each, trial)) for each in own)


def cell_differs(place: ClaimPlace, trial: Trial, asked: PresetMatrix, *, is_scaled: bool) -> list[str]:
    """From the preset's nearest cell in this place; what was scaled has its own words for sizes and memory."""
    own = [cell for cell in asked.cells if _is_in(place, cell)]
    if not own:
        return [f"the preset has no such point on {place.layout}"]
    return _least(list(_of_cell(trial, cell, is_scaled=is_scaled)) for cell in own)


def has_option(options: Mapping[str, OptionValue], key: str, wanted: OptionValue) -> bool:
    """Whether an option has this value; texts in any case."""
    value = options.get(key)
    if wanted == UNSET:
        return value is None
    if isinstance(value, str) and isinstance(wanted, str):
        return value.casefold() == wanted.casefold()
    return value == wanted


def _least(differences: Iterable[list[str]]) -> list[str]:
    return min(differences, key=len, default=[])


def _is_in(place: ClaimPlace, cell: PresetCell) -> bool:
    return (
        cell.workload.kind in place.kinds
        and str(cell.layout) == place.layout
        and all(has_option(cell.workload.options, key, value) for key, value in place.options.items())
    )


def _of_environment(own: Environment, wanted: Environment, trial: Trial) -> Iterator[str]:
    if own.technology != wanted.technology:
        yield f"{own.technology} instead of {wanted.technology}"
        return
    yield from _instead("network", _network(own, trial), _network(wanted, trial))
    yield from _instead("rto_min", own.rto_min_s, wanted.rto_min_s)
    yield from _options({**USUAL, **own.options}, {**USUAL, **wanted.options}, REACH | _IN_FACTS)


def _network(environment: Environment, trial: Trial) -> NetworkKind:
    usual = NetworkKind.NONE if trial.layout.nodes == 1 else NetworkKind.VETH
    return environment.network or usual


def _of_cell(trial: Trial, cell: PresetCell, *, is_scaled: bool) -> Iterator[str]:
    own, wanted = trial.workload, cell.workload
    if own.kind != wanted.kind:
        yield f"{own.kind} instead of {wanted.kind}"
        return
    yield from _instead("iterations", own.iterations, wanted.iterations)
    if not is_scaled:
        varied = (trial.series.option,) if trial.series else ()
        yield from _options(own.options, wanted.options, varied)
        yield from _limits(trial.limits, cell.limits)


def _limits(own: Limits, wanted: Limits) -> Iterator[str]:
    yield from _instead("memory", format_byte(own.memory_byte), format_byte(wanted.memory_byte))
    yield from _instead("shm", format_byte(own.shm_byte), format_byte(wanted.shm_byte))
    yield from _instead("cpu_quota", own.cpu_quota, wanted.cpu_quota)
    yield from _instead("storage", own.storage, wanted.storage)


def _options(
    own: Mapping[str, OptionValue], wanted: Mapping[str, OptionValue], besides: Container[str]
) -> Iterator[str]:
    for key in dict.fromkeys((*wanted, *own)):
        if key not in besides:
            yield from _instead(key, own.get(key), wanted.get(key))


def _instead(key: str, own: object, wanted: object) -> Iterator[str]:
    if own != wanted:
        yield f"{key} {_said(own)} instead of {_said(wanted)}"


def _said(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return UNSET if value is None else str(value)
