# SPDX-License-Identifier: Apache-2.0
"""``fit = true``: each paper's preset is exact on a large host, and says each point on a small one."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.errors import CampaignError, HostError
from tare.plan.campaign import Campaign, differences, load_campaign, resolve
from tare.plan.definition import shape_of
from tare.plan.fitting import Missing, none_missing
from tare.plan.schema import Host
from tare.plan.source import EARLIER_NAMES, preset_path
from tare.records import (
    Environment,
    Layout,
    Limits,
)
from tare.records.scaled import Scaled, Short
from tare.units import GIBIBYTE, MEBIBYTE, parse_byte
from tare.workloads import KINDS
from tare.workloads.part_used import part_used

PAPERS = ("b16-stage1", "b16-stage2", "b16-stage3", "b17", "y15", "r15", "l12")
OTHERWISE = {
    "r15": {"kernel"},
    "b16-stage2": {"shared-write-1k, shared-read-1k, shared-write-128m, shared-read-128m"},
}
"""What no host has: three kernels at once, and a folder that somebody has to make."""


@cache
def on(
    name: str,
    *,
    hosts: int = 1,
    processors: int = 2,
    gibibyte: float = 23.0,
    budget_s: float | None = None,
    missing: Missing = none_missing,
) -> Campaign:
    size = Host(processors, int(gibibyte * GIBIBYTE))
    return resolve(
        name,
        host_processors=size.processors,
        host_memory_byte=size.memory_byte,
        sizes=lambda listed: {host.name: size for host in listed},
        asked_hosts=",".join(f"h{number}" for number in range(hosts)) if hosts > 1 else None,
        budget_s=budget_s,
        missing=missing,
    )


def large(name: str) -> Campaign:
    return on(name, hosts=64, processors=16, gibibyte=128)


def sentences(campaign: Campaign) -> list[str]:
    return [point.sentence for point in campaign.scaled]


def sizes(campaign: Campaign) -> Mapping[tuple[str, str], str | None]:
    """Workload and setting → the size of the problem in words."""
    known = {}
    for workload, setting in campaign.cells:
        kind = KINDS[workload.kind]
        options = kind.options_model.model_validate(dict(workload.options))
        shape = part_used(options, shape_of(setting.layout, setting.limits))
        known[workload.name, str(setting)] = kind.size_said(options, shape)
    return known


@pytest.mark.parametrize("name", PAPERS)
def test_nothing_of_a_paper_is_scaled_on_64_hosts_of_16_processors(name: str) -> None:
    campaign = large(name)
    assert {point.what for point in campaign.scaled} <= OTHERWISE.get(name, set())
    assert all(point.short_of is Short.OTHER for point in campaign.scaled)


@pytest.mark.parametrize(
    ("name", "environments", "layouts", "memory_byte", "blocks"),
    [
        (
            "b16-stage1",
            {"kvm-fv", "kvm-pv", "virtualbox-fv", "virtualbox-pv"},
            {"1c2p1i", "2c2p1i on 2", "4c2p1i on 4", "8c2p1i on 8"},
            4 * GIBIBYTE,
            32,
        ),
        ("b16-stage2", {"lxc", "kvm"}, {"4c1p4i", "2c2p1i", "2c4p1i on 2", "2c2p2i"}, 3096 * MEBIBYTE, 32),
        ("b16-stage3", {"lxc", "docker"}, {"1c4p4i", "4c1p1i", "2c1p1i on 2"}, GIBIBYTE, 32),
        ("b17", {"lxc", "docker"}, {"1c4p2i", "2c2p4i", "2c1p2i", "2c4p1i on 2"}, GIBIBYTE, 32),
        (
            "y15",
            {"openvz", "vserver", "lxc", "xen-pv", "xen-hvm", "kvm-pv", "kvm-fv", "esxi"},
            {"1c1p1i", "14c1p1i on 7", "35c1p1i on 7"},
            256 * MEBIBYTE,
            16,
        ),
        (
            "r15",
            {"lxc", "lxc-2ms"},
            {"64c1p1i on 8", "64c1p1i on 64", "32c1p1i on 16", "8c2p1i", "8c2p1i on 8", "32c16p1i on 32"},
            16 * GIBIBYTE,
            20,
        ),
        ("l12", {"vmware", "kvm", "virtualbox"}, {"1c4p1i"}, 4 * GIBIBYTE, 14),
    ],
)
def test_a_papers_matrix_is_all_there(
    name: str, environments: set[str], layouts: set[str], memory_byte: int, blocks: int
) -> None:
    campaign = large(name)
    limits = campaign.limits
    assert {environment.name for environment in campaign.environments} == environments
    assert layouts <= {str(layout) for layout in campaign.layouts}
    assert (limits.node_memory_byte or limits.host_memory_byte or limits.memory_byte) == memory_byte
    assert campaign.blocks == blocks


def test_the_sizes_are_the_papers_own() -> None:
    assert sizes(large("b16-stage1"))["hpcc", "1c2p1i"] == "N 20,544"
    assert sizes(large("b17"))["hpl", "4c1p1i"] == "N 10,176"
    assert sizes(large("y15"))["bt-102", "1c1p1i"] == "class B"
    assert {sizes(large("r15"))[name, "8c2p1i"] for name in ("is", "mg")} == {"class C"}
    levels = large("l12").factors[0].levels
    assert (levels[0].text, levels[-1].text) == ("1000", "16000")


@pytest.mark.parametrize("name", PAPERS)
def test_a_small_host_plans_each_paper_and_says_what_is_otherwise(name: str) -> None:
    campaign = on(name, gibibyte=2)
    assert campaign.cells
    assert campaign.scaled
    assert all(point.why and len(point.sentence) > len(point.why) for point in campaign.scaled)
    asked = {str(layout) for layout in large(name).layouts}
    said = " ".join(point.what for point in campaign.scaled)
    assert all(layout in said for layout in asked - {str(layout) for layout in campaign.layouts})


def test_memory_makes_a_smaller_n_and_says_so() -> None:
    said = sentences(on("b16-stage1", gibibyte=2))
    assert "hpcc in 1c2p1i: N 12,672 instead of 20,544: memory" in said
    assert any(each.startswith("memory of a node: 1.5 GiB instead of 4 GiB: ") for each in said)


def test_y15s_largest_file_may_be_written() -> None:
    files = [(own, setting.limits) for own, setting in on("y15").cells if own.kind == "files"]
    assert files
    for own, limits in files:
        sizes_byte = [parse_byte(str(size)) for size in cast("list[str]", own.options["sizes"])]
        assert max(sizes_byte) <= (limits.bounds.output_byte or 0)


def test_processors_are_shared_and_said() -> None:
    (crowd,) = [point for point in on("l12").scaled if point.short_of is Short.PROCESSORS]
    assert crowd.sentence == "1c4p1i: 4 processors as 2: this host has 2, so 2 share one"


def test_several_nodes_of_a_host_move_together_and_a_wire_is_left_out() -> None:
    campaign = on("y15")
    assert "14c1p1i on 7: on 1 host instead of 7 hosts: this host alone" in sentences(campaign)
    assert any("2c1p1i on 2: left out: " in each for each in sentences(on("b17")))
    assert not any(layout.hosts > 1 for layout in on("b17").layouts)


@pytest.mark.parametrize("gibibyte", [2, 8, 11, 23])
def test_layouts_that_were_moved_do_not_make_the_exact_ones_smaller(gibibyte: float) -> None:
    campaign = on("y15", gibibyte=gibibyte)
    assert campaign.limits.node_memory_byte == 256 * MEBIBYTE
    assert "1c1p1i" in {str(layout) for layout in campaign.layouts}


def test_layouts_that_come_to_the_same_are_measured_once() -> None:
    campaign = on("r15")
    assert [str(layout) for layout in campaign.layouts].count("32c1p1i") == 1
    assert "32c1p1i on 16: left out: on 1 host it is 32c1p1i again" in sentences(campaign)


def test_a_class_that_memory_cannot_hold_becomes_the_next_smaller() -> None:
    assert any(
        each.startswith("mg in ") and "class B instead of C: memory" in each
        for each in sentences(on("r15", gibibyte=2))
    )


def test_levels_that_memory_cannot_hold_are_left_out_by_name() -> None:
    campaign = on("l12", gibibyte=2)
    assert campaign.factors[0].levels[-1].text == "14000"
    assert campaign.orders[0].values[-1] == 14000
    assert any(each.startswith("problem_size of hpcc: left out (16000): ") for each in sentences(campaign))


def test_a_budget_makes_problems_smaller_and_says_so() -> None:
    assert "hpcc in 1c2p1i: N 7,296 instead of 20,544: time" in sentences(on("b16-stage1", budget_s=1800))


def test_a_budget_leaves_out_levels_of_a_problem_and_never_changes_the_others() -> None:
    campaign = on("l12", budget_s=1800)
    assert len(campaign.factors[0].levels) < len(on("l12").factors[0].levels)
    assert campaign.workloads == on("l12").workloads


def test_environments_that_are_not_here_take_nothing_of_a_budget() -> None:
    asked = on("b17", budget_s=1200)
    without_docker = on("b17", budget_s=1200, missing=only_lxc)
    assert hpl_size(without_docker) > hpl_size(asked)


def only_lxc(environments: Iterable[Environment]) -> set[str]:
    return {environment.name for environment in environments} - {"lxc"}


def hpl_size(campaign: Campaign) -> int:
    return next(int(str(own.options["problem_size"])) for own in campaign.workloads if own.name == "hpl")


def test_two_hosts_have_the_layouts_of_two_hosts() -> None:
    campaign = on("b16-stage1", hosts=2)
    assert {str(layout) for layout in campaign.layouts} == {"1c2p1i", "2c2p1i on 2"}
    assert "levels of hosts: 1, 2 instead of 1, 2, 4, 8: the others are not here" in sentences(campaign)


def test_a_level_that_is_measured_is_not_among_those_that_are_left_out() -> None:
    campaign = on("b16-stage1")
    assert [str(layout) for layout in campaign.layouts] == ["1c2p1i"]
    assert campaign.factors == ()
    assert "levels of hosts: left out (2, 4, 8): they are not here" in sentences(campaign)


@pytest.mark.parametrize(("earlier", "today"), EARLIER_NAMES.items())
def test_an_earlier_name_still_works_and_says_the_new_one(earlier: str, today: str) -> None:
    campaign = on(earlier)
    assert campaign.name == today
    assert campaign.scaled[0].sentence.startswith(f"preset: {today} instead of {earlier}: ")
    assert differences(on(today), campaign) == []


def test_stage_3_and_the_paper_on_it_are_the_same_under_two_names() -> None:
    assert preset_path("b16-stage3") == preset_path("b17")
    assert differences(on("b16-stage3"), on("b17")) == ["name: b16-stage3 in the result, b17 now"]


def test_points_survive_the_result_folder() -> None:
    campaign = on("r15")
    assert Campaign.from_json(campaign.to_json(), "campaign.json") == campaign


FILE = """
name = "own"
fit = {fit}
layouts = ["{layout}"]
[limits]
memory = "{memory}"
[[environment]]
technology = "bubblewrap"
[[workload]]
name = "hpl"
"""


def own(folder: Path, fit: str = "true", layout: str = "1c2p1i", memory: str = "1 GiB") -> Campaign:
    path = folder / "own.toml"
    path.write_text(FILE.format(fit=fit, layout=layout, memory=memory))
    return load_campaign(path, host_processors=2, host_memory_byte=4 * GIBIBYTE)


def test_any_file_may_ask_for_it_and_one_that_fits_is_left_as_it_is(tmp_path: Path) -> None:
    assert own(tmp_path).scaled == ()
    assert own(tmp_path, memory="64 GiB").limits.memory_byte == 3 * GIBIBYTE
    with pytest.raises(CampaignError, match="more than this host's"):
        own(tmp_path, fit="false", memory="64 GiB")


def test_a_campaign_of_which_nothing_is_left_is_refused_with_every_reason(tmp_path: Path) -> None:
    with pytest.raises(
        HostError, match=r"(?s)nothing of it can be measured here:.*2c1p1i on 2: left out: it is about"
    ):
        own(tmp_path, layout="2c1p1i on 2")


def test_a_wrong_file_is_told_as_without_it(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="is not a layout"):
        own(tmp_path, layout="2x1p1i")


def test_memory_that_is_varied_is_not_fitted_and_too_much_of_it_is_a_fault_of_the_file(
    tmp_path: Path,
) -> None:
    levels = '[[factor]]\nkey = "memory"\nlevels = ["1 GiB", "64 GiB"]\n'
    text = FILE.format(fit="true", layout="1c2p1i", memory="1 GiB") + levels
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(CampaignError, match=r"own\.toml:\d+: .*64 GiB in .* is more than its hosts have"):
        load_campaign(tmp_path / "own.toml", host_processors=2, host_memory_byte=4 * GIBIBYTE)


@given(memory=st.integers(1, 1 << 40), fraction=st.floats(0.01, 0.8))
@settings(max_examples=40)
def test_a_smaller_problem_is_smaller(memory: int, fraction: float) -> None:
    kind = KINDS["hpl"]
    options = kind.options_model.model_validate({"memory_fraction": fraction})
    less = kind.smaller(options)
    if less is not None:
        shape = shape_of(Layout.parse("1c1p1i"), Limits(memory_byte=memory, shm_byte=0))
        after = kind.options_model.model_validate({"memory_fraction": fraction, **less})
        assert (kind.expected_s(after, shape) or 0) <= (kind.expected_s(options, shape) or 0)
        assert float(str(less["memory_fraction"])) < fraction


def test_a_point_reads_as_a_sentence() -> None:
    point = Scaled(what="hpl in 1c4p1i", asked="20,544", here="N 4,992", why="memory", short_of=Short.MEMORY)
    assert point.sentence == "hpl in 1c4p1i: N 4,992 instead of 20,544: memory"
    out = Scaled(what="xen", asked="", here=None, why="no hypervisor", short_of=Short.OTHER)
    assert out.sentence == "xen: left out: no hypervisor"


def test_an_instance_over_hosts_has_its_hosts_memory() -> None:
    limits = Limits(memory_byte=GIBIBYTE, shm_byte=0, host_memory_byte=GIBIBYTE)
    assert limits.of(Layout.parse("4c1p1i on 2")).memory_byte == 2 * GIBIBYTE
    assert limits.of(Layout.parse("4c1p1i")).memory_byte == parse_byte("1 GiB")


def test_a_workload_outside_of_a_sharing_experiment_keeps_its_memory() -> None:
    memory = {
        (workload.name, str(setting)): setting.limits.memory_byte for workload, setting in on("b17").cells
    }
    assert memory["hpl", "1c4p1i"] == GIBIBYTE
    assert memory["hpl-single", "1c4p1i"] == GIBIBYTE // 4


def test_workloads_in_an_absent_folder_are_left_out_and_a_present_one_keeps_them(tmp_path: Path) -> None:
    there, absent = tmp_path / "there", tmp_path / "absent"
    there.mkdir()
    text = FILE.format(fit="true", layout="2c1p1i", memory="1 GiB").replace(
        "fit = true", f'fit = true\nbinds = ["{there}:rw", "{absent}:rw"]'
    )
    for folder in (there, absent):
        text += f'[[workload]]\nkind = "mpiio"\nname = "in-{folder.name}"\ndirectory = "{folder}"\n'
    (tmp_path / "own.toml").write_text(text)
    campaign = load_campaign(tmp_path / "own.toml", host_processors=2, host_memory_byte=4 * GIBIBYTE)
    assert [workload.name for workload in campaign.workloads] == ["hpl", "in-there"]
    assert campaign.binds == (f"{there}:rw",)
    (point,) = campaign.scaled
    assert point.sentence.startswith("in-absent: left out: this host has no folder ")
    assert point.sentence.endswith(f": mkdir -m 1777 {absent} makes it")


def test_a_layout_with_more_nodes_than_a_host_may_have_is_left_out(tmp_path: Path) -> None:
    with pytest.raises(
        HostError, match="300c1p1i on 4: left out: it has 300 nodes; at most 200 are possible"
    ):
        own(tmp_path, layout="300c1p1i on 4")


def test_the_kernels_of_guests_stay_a_factor(tmp_path: Path) -> None:
    text = FILE.format(fit="true", layout="1c2p1i", memory="1 GiB")
    text = text.replace('technology = "bubblewrap"', 'technology = "qemu"')
    text += '[[factor]]\nkey = "kernel"\nlevels = ["6.1.0", "6.12.0"]\n'
    (tmp_path / "own.toml").write_text(text)
    campaign = load_campaign(tmp_path / "own.toml", host_processors=2, host_memory_byte=4 * GIBIBYTE)
    assert [factor.key for factor in campaign.factors] == ["kernel"]
    assert campaign.scaled == ()
