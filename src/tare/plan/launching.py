# SPDX-License-Identifier: Apache-2.0
"""What ``mpi_launcher`` cannot do, known when a campaign is planned (docs/mpi.md)."""

from collections.abc import Iterator, Mapping

from tare.nodes.provider import Provider
from tare.plan.definition import Campaign, shape_of
from tare.plan.problems import Problem
from tare.records import Layout, MpiLauncher, NetworkKind
from tare.workloads.kind import WorkloadKind
from tare.workloads.mpi import LAUNCHER, is_by_image
from tare.workloads.part_used import part_used

_KEY = ("mpi_launcher",)


def launcher_problems(
    campaign: Campaign, providers: Mapping[str, Provider], kinds: Mapping[str, WorkloadKind]
) -> Iterator[Problem]:
    """Find workloads, layouts and environments whose processes the site's own launcher could not start alike."""
    launcher = campaign.mpi_launcher
    if launcher is MpiLauncher.TARE:
        return
    if not campaign.hosts:
        yield Problem(
            _KEY, f"{launcher} starts processes over hosts, and the campaign names none; add [[host]] tables"
        )
        return
    if launcher is MpiLauncher.SRUN and any(host.slurm is None for host in campaign.hosts):
        yield Problem(
            _KEY, 'srun starts processes within a Slurm allocation; write hosts = "slurm", and no [[host]]'
        )
    for layout in _spanned(campaign, kinds):
        if why := _misfit(launcher, layout):
            yield Problem(_KEY, f"{launcher} cannot start {layout} alike in every arm: {why}")
    for environment in campaign.environments:
        if environment.network not in {None, NetworkKind.HOST}:
            yield Problem(
                _KEY,
                f"{launcher}'s part on a host is reached on the host's own loopback, which {environment.name} with "
                f'network = "{environment.network}" does not have; leave the network out or write "host"',
            )
        elif providers[environment.technology].own_kernel:
            yield Problem(
                _KEY,
                f"{launcher}'s part on a host is reached on the host's own loopback, and {environment.name} has a "
                'kernel of its own; leave it out, or mpi_launcher at "tare"',
            )


def _spanned(campaign: Campaign, kinds: Mapping[str, WorkloadKind]) -> list[Layout]:
    """The layouts in which mpirun starts a workload."""
    layouts: dict[Layout, None] = {}
    for workload, setting in campaign.cells:
        kind = kinds[workload.kind]
        options = kind.options_model.model_validate(dict(workload.options))
        argv = kind.job(options, part_used(options, shape_of(setting.layout, setting.limits))).argv
        if argv[0] == LAUNCHER and not is_by_image(argv):
            layouts[setting.layout] = None
    return list(layouts)


def _misfit(launcher: MpiLauncher, layout: Layout) -> str | None:
    if not layout.as_native.cooperative:
        return (
            "natively an instance has one node, in which the image's mpirun starts it; give a layout of fewer "
            'instances than hosts, such as 4c1p1i on 2, or leave mpi_launcher at "tare"'
        )
    share = layout.nodes // layout.instances
    hosts = {layout.host_of(node) for node in range(share)}
    if launcher is MpiLauncher.SRUN and len(hosts) < share:
        return (
            "PMIx tells processes of one host that they share memory, and those of two nodes there do not; give a "
            f"layout with a node of each instance per host, such as {len(hosts)}c{layout.processors}p1i on "
            f"{len(hosts)}"
        )
    return None
