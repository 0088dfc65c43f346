# SPDX-License-Identifier: Apache-2.0
"""``tare doctor``: what works on this host, what is missing and how to get it, and threats to a measurement."""

import json
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from tare.errors import ExitCode
from tare.foreign import one_line
from tare.host.threats import Threat
from tare.network.reach import NetworkFinding, TryNetwork
from tare.nodes.provider import BETWEEN_HOSTS, Probe, Provider
from tare.records import NATIVE, SCHEMA, NetworkKind
from tare.units import format_byte

_REMEDY = "→ "
PROBE_LIMIT_S = 15.0
"""The KVM probe boots a guest, which has ten seconds."""

TryNode = Callable[[Provider], Probe]
"""Starts, enters and stops a node of an environment; reports the result like a probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All findings of the doctor."""

    environments: Mapping[str, Probe]
    tried: Mapping[str, Probe]
    """Result of a real node of each usable environment; empty unless requested."""
    networks: Mapping[str, tuple[NetworkFinding, ...]]
    """Results of each kind of network of each usable environment; empty unless requested."""
    host: Mapping[str, str]
    threats: tuple[Threat, ...]

    @property
    def native_works(self) -> bool:
        return all(probes[NATIVE].usable for probes in (self.environments, self.tried) if NATIVE in probes)


def run_doctor(
    as_json: bool,
    try_nodes: bool = False,
    try_networks: bool = False,
    *,
    providers: Mapping[str, Provider] | None = None,
    try_node: TryNode | None = None,
    try_network: TryNetwork | None = None,
    probe_limit_s: float = PROBE_LIMIT_S,
) -> ExitCode:
    """Print the findings; 0 if native is usable, else 3.

    With ``try_nodes``, a real node of each is started too; with ``try_networks``, two on each kind of network.
    """
    if providers is None:
        from tare.environments import PROVIDERS

        providers = PROVIDERS
    probes = probe_all(providers, probe_limit_s)
    usable = {name: provider for name, provider in providers.items() if probes[name].usable}
    tried = _try_all(usable, try_node) if try_nodes else {}
    networks = _try_all_networks(usable, try_network) if try_networks else {}
    host, threats = _host()
    findings = Diagnosis(environments=probes, tried=tried, networks=networks, host=host, threats=threats)
    print(json.dumps(_as_json(findings), indent=1) if as_json else _broken_at_words(_as_text(findings)))
    return ExitCode.DONE if findings.native_works else ExitCode.CANNOT


def probe_all(providers: Mapping[str, Provider], limit_s: float) -> dict[str, Probe]:
    """Probe all at once; a probe that fails or exceeds ``limit_s`` makes its environment not usable."""
    probes: dict[str, Probe] = {}
    threads = {
        name: threading.Thread(target=_probe, args=(name, provider, probes), daemon=True)
        for name, provider in providers.items()
    }
    deadline = time.monotonic() + limit_s
    for thread in threads.values():
        thread.start()
    for thread in threads.values():
        thread.join(max(deadline - time.monotonic(), 0))
    late = Probe(
        usable=False,
        reason=f"its probe did not end within {limit_s:g} s",
        remedy="see with ps which of its programs hangs, and restart its daemon",
    )
    return {name: probes.get(name, late) for name in providers}


def _probe(name: str, provider: Provider, probes: dict[str, Probe]) -> None:
    try:
        probes[name] = provider.probe()
    except Exception as error:  # noqa: BLE001 - one broken environment must not hide the others
        probes[name] = _broken("its probe failed", error)


def _broken(what: str, error: Exception) -> Probe:
    remedy = "correct what it says; if it reads like a fault of Tare's, please report it"
    return Probe(usable=False, reason=f"{what}: {error or type(error).__name__}", remedy=remedy)


def _try_all(providers: Mapping[str, Provider], try_node: TryNode | None) -> dict[str, Probe]:
    if try_node is not None:
        return {name: _try_one(name, provider, try_node) for name, provider in providers.items()}
    from tare.commands.try_nodes import held_for_trying
    from tare.errors import TareError

    try:
        with held_for_trying() as real:
            return {name: _try_one(name, provider, real) for name, provider in providers.items()}
    except TareError as error:
        return dict.fromkeys(providers, Probe(usable=False, reason=f"no node can be tried: {error}"))


def _try_one(name: str, provider: Provider, try_node: TryNode) -> Probe:
    print(f"trying {name} ...", file=sys.stderr)
    try:
        return try_node(provider)
    except Exception as error:  # noqa: BLE001 - one broken environment must not hide the others
        return _broken("its node failed", error)


def _try_all_networks(
    providers: Mapping[str, Provider], try_network: TryNetwork | None
) -> dict[str, tuple[NetworkFinding, ...]]:
    if try_network is not None:
        return {name: _try_networks(provider, try_network) for name, provider in providers.items()}
    from tare.commands.try_nodes import held_for_networks
    from tare.errors import TareError

    try:
        with held_for_networks() as real:
            return {name: _try_networks(provider, real) for name, provider in providers.items()}
    except TareError as error:
        none = NetworkFinding(kind=None, usable=False, reason=f"none can be tried: {error}")
        return dict.fromkeys(providers, (none,))


def _try_networks(provider: Provider, try_network: TryNetwork) -> tuple[NetworkFinding, ...]:
    kinds = (kind for kind in NetworkKind if kind in provider.networks and kind not in BETWEEN_HOSTS)
    return tuple(_try_one_network(provider, kind, try_network) for kind in kinds)


def _try_one_network(provider: Provider, kind: NetworkKind, try_network: TryNetwork) -> NetworkFinding:
    print(f"trying {provider.technology}'s network {kind} ...", file=sys.stderr)
    try:
        return try_network(provider, kind)
    except Exception as error:  # noqa: BLE001 - one broken environment must not hide the others
        broken = _broken("its nodes failed", error)
        return NetworkFinding(kind=kind, usable=False, reason=broken.reason, remedy=broken.remedy)


def _host() -> tuple[dict[str, str], tuple[Threat, ...]]:
    from tare.host.facts import host_facts, online_processors
    from tare.host.paths import state_directory
    from tare.host.threats import device_threats, find_threats, space_threats

    facts = host_facts() | {"MPI": _mpi_said()}
    threats = find_threats(facts, len(online_processors()))
    return facts, (*threats, *device_threats(), *space_threats(state_directory()), *_image_threats())


def _mpi_said() -> str:
    """Whether what is linked to MPI can be compiled for this host itself; images bring their own."""
    from tare.host.distribution import to_install

    if shutil.which("mpicc"):
        return "the NAS kernels and the MPI profiler can be compiled for this host too (docs/profiler.md)"
    return (
        "this host has none for C, so the NAS kernels and the MPI profiler are in images alone; for this host too: "
        f"{to_install('libopenmpi-dev')}, then as docs/profiler.md says"
    )


def _image_threats() -> list[Threat]:
    from tare.errors import TareError
    from tare.image.store import DEFAULT_NAME, HOST_NAME, find_image, require_own_programs

    said: list[TareError] = []
    for name in (DEFAULT_NAME, HOST_NAME):
        try:
            require_own_programs(find_image(name))
        except TareError as error:
            said.append(error)
        else:
            return []
    return [Threat(subject="image", remark=f"cannot be used: {said[0]}", remedy="tare image build")]


def _as_json(findings: Diagnosis) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "environments": [
            {
                "technology": name,
                **asdict(probe),
                "tried": asdict(findings.tried[name]) if name in findings.tried else None,
                "networks": [asdict(network_finding) for network_finding in findings.networks[name]]
                if name in findings.networks
                else None,
            }
            for name, probe in findings.environments.items()
        ],
        "host": dict(findings.host),
        "threats": [asdict(threat) for threat in findings.threats],
    }


def _broken_at_words(text: str) -> str:
    """On a terminal, lines too long for it go on below their second column; commands stay whole, to be copied."""
    if not sys.stdout.isatty():
        return text
    columns = shutil.get_terminal_size().columns
    return "\n".join(line if _REMEDY in line else _folded(line, columns) for line in text.splitlines())


def _folded(line: str, columns: int) -> str:
    second = re.match(r" *\S.*?  +(?=\S)", line)
    indent = min(len(second[0]) if second else 4, 2 * columns // 3)
    wrapper = textwrap.TextWrapper(
        columns, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    return wrapper.fill(line)


def _as_text(findings: Diagnosis) -> str:
    width = max(map(len, [*findings.environments, *findings.host]), default=0) + 2
    lines = ["Environments"]
    for name, probe in findings.environments.items():
        lines += _probe_lines(name, probe, "usable", width)
        if name in findings.tried:
            lines += _probe_lines("", findings.tried[name], "a node of it worked", width)
        for network in findings.networks.get(name, ()):
            lines += _network_lines(network, width)
    lines += [
        "",
        "Host",
        *(f"  {label:<{width}}{one_line(value)}" for label, value in findings.host.items()),
        "",
    ]
    if not findings.threats:
        return "\n".join([*lines, "Nothing here threatens a measurement."])
    lines.append("What threatens a measurement here")
    for threat in findings.threats:
        lines += [
            f"  {one_line(f'{threat.subject} {threat.remark}')}",
            f"    {_REMEDY}{one_line(threat.remedy)}",
        ]
    return "\n".join(lines)


def _probe_lines(name: str, probe: Probe, good: str, width: int) -> list[str]:
    if probe.usable:
        return [f"  {name:<{width}}{good}" + (f" ({one_line(probe.version)})" if probe.version else "")]
    said = [f"  {name:<{width}}not usable: {one_line(probe.reason)}"]
    return [*said, f"  {'':<{width}}{_REMEDY}{one_line(probe.remedy)}"] if probe.remedy else said


def _network_lines(finding: NetworkFinding, width: int) -> list[str]:
    """Lines like a probe's: figures where the network works, else the reason and the remedy."""
    if finding.usable:
        text = ", ".join([*_figures(finding), *finding.remarks])
        return [f"  {'':<{width}}network {finding.network or finding.kind} worked: {text}"]
    probe = Probe(usable=False, reason=finding.reason, remedy=finding.remedy)
    name = "networks" if finding.kind is None else f"network {finding.kind}"
    first, *rest = _probe_lines("", probe, "", width)
    return [first.replace("not usable", f"{name} not usable", 1), *rest]


def _figures(finding: NetworkFinding) -> list[str]:
    figures = []
    if finding.round_trip_s is not None:
        figures.append(f"round trip {finding.round_trip_s * 1000:.3g} ms")
    if finding.transferred_byte is not None and finding.transfer_s is not None:
        figures.append(f"{format_byte(finding.transferred_byte)} in {finding.transfer_s * 1000:.3g} ms")
    return figures
