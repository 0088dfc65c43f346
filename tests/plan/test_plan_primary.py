# SPDX-License-Identifier: Apache-2.0
"""What is judged before all else, declared beforehand."""

from pathlib import Path

import pytest

from tare.errors import CampaignError
from tare.plan.campaign import Campaign, load_campaign
from tare.workloads import primary_metrics

TEXT = """
name = "declared"
blocks = 10

[[environment]]
technology = "docker"

[[workload]]
name = "compute"
"""


def load(folder: Path, primary: str, text: str = TEXT) -> Campaign:
    file = folder / "campaign.toml"
    file.write_text(f"{text}{primary}")
    return load_campaign(file, host_processors=2, host_memory_byte=1 << 34)


@pytest.mark.parametrize("metric", ["compute", "compute (CPU time)", "compute (net of load)"])
def test_a_slices_time_with_or_without_what_others_took_may_be_what_is_judged(
    metric: str, tmp_path: Path
) -> None:
    (workload,) = load(tmp_path, f'primary = "{metric}"').workloads
    assert primary_metrics(workload) == (metric,)


def test_without_a_word_it_is_the_wall_time(tmp_path: Path) -> None:
    (workload,) = load(tmp_path, "").workloads
    assert primary_metrics(workload) == ("compute",)


def test_what_no_slice_measures_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"does not measure 'compute \(CPU tim\)'.*compute \(CPU time\)"):
        load(tmp_path, 'primary = "compute (CPU tim)"')


@pytest.mark.parametrize(
    ("more", "said"),
    [("iterations = 3", "leave out iterations"), ('turns = { way = "whole" }', 'leave out way = "whole"')],
)
def test_what_turns_alone_measure_is_refused_where_nothing_takes_turns(
    more: str, said: str, tmp_path: Path
) -> None:
    text = TEXT if "iterations" in more else TEXT.replace("blocks = 10", f"blocks = 10\n{more}")
    own = more if "iterations" in more else ""
    with pytest.raises(CampaignError, match=said):
        load(tmp_path, f'primary = "compute (net of load)"\n{own}', text)


@pytest.mark.parametrize("metric", ["process start (net of load)", "process start (CPU time)"])
def test_work_of_several_processes_has_no_time_of_its_own_to_be_judged(metric: str, tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="does not measure"):
        load(tmp_path, f'primary = "{metric}"', TEXT.replace("compute", "os"))


def test_a_curve_is_no_figure_and_the_range_that_would_be_is_named(tmp_path: Path) -> None:
    own = 'pieces = ["context-switch"]\nprimary = "context switch"'
    with pytest.raises(CampaignError, match=r"'context switch' has points.*ranges\.\"context switch, all\""):
        load(tmp_path, own, TEXT.replace("compute", "os"))
