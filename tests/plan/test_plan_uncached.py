# SPDX-License-Identifier: Apache-2.0
"""Files that are to pass every cache by, in environments whose kernel caches them all the same."""

from pathlib import Path

import pytest

from tare.environments import PROVIDERS
from tare.errors import CampaignError
from tare.plan.campaign import load_campaign
from tare.workloads import KINDS

CAMPAIGN = """\
name = "uncached"
[limits]
storage = "disk"
[[environment]]
{environment}
[[workload]]
{workload}
"""
DIRECT = 'kind = "mpiio"\ninterface = "posix"\ndirect = true'
COLD = 'kind = "mpiio"\noperation = "read"\ncold = true'


def load(folder: Path, environment: str, workload: str) -> None:
    path = folder / "campaign.toml"
    path.write_text(CAMPAIGN.format(environment=environment, workload=workload))
    load_campaign(path, host_processors=4, host_memory_byte=8 << 30, providers=PROVIDERS, kinds=KINDS)


@pytest.mark.parametrize(
    ("workload", "option"),
    [(DIRECT, "direct"), (COLD, "cold"), ('kind = "files"\ndirect = true', "direct")],
)
@pytest.mark.parametrize(
    "environment",
    ['technology = "gvisor"', 'technology = "docker"\nruntime = "runsc"'],
    ids=["gvisor", "docker"],
)
def test_direct_and_cold_files_are_refused_where_gvisor_caches_them(
    tmp_path: Path, environment: str, workload: str, option: str
) -> None:
    with pytest.raises(CampaignError, match=f"{option} = true is not possible in (gvisor|docker), so leave"):
        load(tmp_path, environment, workload)


def test_they_are_planned_where_the_hosts_kernel_or_a_guests_opens_them(tmp_path: Path) -> None:
    for technology in ("docker", "qemu", "bubblewrap"):
        for workload in (DIRECT, COLD):
            load(tmp_path, f'technology = "{technology}"', workload)
    load(tmp_path, 'technology = "gvisor"', 'kind = "mpiio"')
