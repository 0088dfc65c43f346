# SPDX-License-Identifier: Apache-2.0
"""``mpi_launcher``: what the site's own launcher cannot start is refused when a campaign is planned."""

from dataclasses import replace

import pytest

from tare.environments import PROVIDERS
from tare.plan.campaign import Campaign
from tare.plan.launching import launcher_problems
from tare.records import Environment, Layout, MpiLauncher, NamedHost, NetworkKind, OptionValue
from tare.workloads import KINDS
from tests.fake_campaign import command_workload, fake_campaign

HOSTS = (NamedHost(name="a", address="a"), NamedHost(name="b", address="b"))
IN_SLURM = (NamedHost(name="slurm-1", slurm=0), NamedHost(name="slurm-2", slurm=1))


def campaign(
    launcher: MpiLauncher = MpiLauncher.MPIRUN,
    layout: str = "4c1p1i on 2",
    hosts: tuple[NamedHost, ...] = HOSTS,
    environment: Environment | None = None,
    **options: OptionValue,
) -> Campaign:
    plain = command_workload("solver")
    workload = replace(plain, options={**plain.options, "mpi": True, **options})
    return replace(
        fake_campaign(workload=workload),
        environments=(environment or Environment(name="bubblewrap", technology="bubblewrap"),),
        layouts=(Layout.parse(layout),),
        hosts=hosts,
        mpi_launcher=launcher,
    )


def problems(asked: Campaign) -> str:
    return "; ".join(problem.text for problem in launcher_problems(asked, PROVIDERS, KINDS))


def test_hosts_over_which_every_arm_spans_are_fit() -> None:
    assert problems(campaign()) == ""
    assert problems(campaign(MpiLauncher.SRUN, "2c2p1i on 2", IN_SLURM)) == ""
    assert problems(campaign(MpiLauncher.TARE, "1c2p1i", ())) == ""


def test_a_workload_without_mpi_may_have_any_layout() -> None:
    assert problems(campaign(layout="2c1p2i on 2", mpi=False)) == ""


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (campaign(hosts=()), r"the campaign names none; add \[\[host\]\] tables"),
        (campaign(MpiLauncher.SRUN), 'within a Slurm allocation; write hosts = "slurm"'),
        (campaign(layout="4c1p2i on 2"), "natively an instance has one node"),
        (campaign(MpiLauncher.SRUN, "4c1p1i on 2", IN_SLURM), "such as 2c1p1i on 2"),
        (
            campaign(environment=Environment(name="d", technology="docker", network=NetworkKind.VETH)),
            'd with network = "veth" does not have',
        ),
        (campaign(environment=Environment(name="q", technology="qemu")), "q has a kernel of its own"),
    ],
)
def test_what_cannot_be_alike_in_every_arm_is_refused_with_the_reason(asked: Campaign, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        assert problems(asked) == ""
