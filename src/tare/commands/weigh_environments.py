# SPDX-License-Identifier: Apache-2.0
"""Where ``tare weigh`` runs the command: technologies that were named or work here, and the host's own files."""

import os

from tare.analyze.answers import joined
from tare.commands.doctor import PROBE_LIMIT_S, probe_all
from tare.commands.weigh_files import WeighOptions
from tare.environments import PROVIDERS
from tare.errors import HostError, InputError
from tare.plan.entries import unknown_technology
from tare.records import HOST_FILES, NATIVE, Environment, NetworkKind

_FINDS_SOFTWARE = ("PATH", "LD_LIBRARY_PATH")
_NOT_BY_DEFAULT = {NATIVE, HOST_FILES, "chroot", "custom", "fake", "ssh", "vmware"}
"""Names that are no environment by themselves, or need options that only a campaign file can give."""
_LEAST = "bubblewrap"
"""The environment that needs least: one small program."""


def technologies_of(options: WeighOptions) -> tuple[list[str], list[str]]:
    """The technologies to weigh, and what to say about the others; those named are taken as they are."""
    for name in options.environments:
        if name not in PROVIDERS:
            raise InputError(f"--env: {unknown_technology(name, PROVIDERS)}")
    if HOST_FILES in options.environments:
        raise InputError(
            "--env: host is what the others are compared with beside native; write --against host"
        )
    named = [name for name in dict.fromkeys(options.environments) if name != NATIVE]
    if options.environments and not named:
        raise InputError("--env: native is what the others are compared with, and always runs; name another")
    if not named:
        return _usable(with_devices=bool(options.devices))
    for name in named if options.devices else ():
        if why := PROVIDERS[name].refuse_devices({}):
            raise InputError(f"--device: {name} cannot have any: {why}")
    return named, []


def _usable(*, with_devices: bool) -> tuple[list[str], list[str]]:
    """All that work here and can take turns with each other: one that cannot would cost all of them their precision."""
    candidates = {name: PROVIDERS[name] for name in PROVIDERS if name not in _NOT_BY_DEFAULT}
    probes = probe_all(candidates, PROBE_LIMIT_S)
    here = [name for name, probe in probes.items() if probe.usable]
    usable = [name for name in here if not candidates[name].own_kernel and not probes[name].emulated]
    refusing = [name for name in usable if with_devices and candidates[name].refuse_devices({})]
    usable = [name for name in usable if name not in refusing]
    if not usable:
        least = probes[_LEAST].remedy if _LEAST in probes else ""
        raise HostError(
            "no environment is usable here, so there is nothing to compare; tare doctor says what each needs"
            + (f". The least is {_LEAST}: {least}" if least else "")
        )
    apart, absent = sorted(set(here) - {*usable, *refusing}), sorted(set(probes) - set(here))
    why = []
    if absent:
        why.append(f"{joined(absent)} (not usable here: tare doctor)")
    if apart:
        why.append(f"{joined(apart)} (own kernel: --env)")
    if refusing:
        why.append(f"{joined(refusing)} (no devices of the host)")
    return usable, [f"left out: {'; '.join(why)}"] if why else []


def host_arm(options: WeighOptions, network: NetworkKind | None) -> tuple[Environment, ...]:
    """The host's own files with what a shell there would find its programs and libraries by: modules set that."""
    if options.against is None:
        return ()
    stated = [f"{name}={os.environ[name]}" for name in _FINDS_SOFTWARE if os.environ.get(name)]
    variables = [*stated, *map(_host_variable, options.host_variables)]
    own = network or NetworkKind.HOST  # native's
    return (
        Environment(name=HOST_FILES, technology=HOST_FILES, network=own, options={"variables": variables}),
    )


def _host_variable(text: str) -> str:
    name, separator, _ = text.partition("=")
    if separator and name:
        return text
    if name not in os.environ:
        raise InputError(f"--host-var: {name!r} is not set here; load the module first, or write NAME=VALUE")
    return f"{name}={os.environ[name]}"
