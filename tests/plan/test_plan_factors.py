# SPDX-License-Identifier: Apache-2.0
"""Factors of a campaign file: what may vary, who is concerned, and what each trial gets."""

from pathlib import Path

import pytest

from tare.errors import CampaignError
from tare.plan.campaign import Campaign, differences, load_campaign
from tare.plan.interventions import Choice, Parent, Toggle, folder_name, intervention_campaign
from tare.plan.trials import plan_block, plan_trials, refuse_misnamed
from tare.records import NATIVE, Cell, Level, NetworkKind, Trial
from tests.plan.plan_example import PROVIDERS, StubProvider, kept_and_read, load_text

BASE = """\
name = "varied"
blocks = 6

[limits]
memory = "1 GiB"

[[environment]]
technology = "docker"

[[environment]]
technology = "bottle"
cork = "tight"

[[workload]]
name = "count"
"""
MEBIBYTE = 1 << 20


def varied(folder: Path, *tables: tuple[str, str], base: str = BASE) -> Campaign:
    text = "".join(f'\n[[factor]]\nkey = "{key}"\nlevels = {levels}\n' for key, levels in tables)
    return load_text(folder, base + text)


def problem(folder: Path, *tables: tuple[str, str], base: str = BASE) -> str:
    with pytest.raises(CampaignError) as caught:
        varied(folder, *tables, base=base)
    return str(caught.value)


def trials(campaign: Campaign, environment: str) -> dict[str, Trial]:
    own = (trial for trial in plan_block(campaign, 1, 0) if trial.environment.name == environment)
    return {trial.setting: trial for trial in own}


def test_a_limit_is_that_of_the_level_in_every_environment_and_natively(tmp_path: Path) -> None:
    campaign = varied(tmp_path, ("memory", '["64 MiB", "1 GiB"]'))
    for name in (NATIVE, "docker", "bottle"):
        own = trials(campaign, name)
        assert {setting: trial.limits.memory_byte for setting, trial in own.items()} == {
            "1c1p1i[memory=64 MiB]": 64 * MEBIBYTE,
            "1c1p1i[memory=1 GiB]": 1024 * MEBIBYTE,
        }
    assert {trial.limits.shm_byte for trial in plan_block(campaign, 1, 0)} == {32 * MEBIBYTE}
    refuse_misnamed(plan_trials(campaign, 1))


@pytest.mark.parametrize(
    ("key", "levels", "values"),
    [
        ("cpu_quota", "[0.25, 0.5]", [0.25, 0.5]),
        ("storage", '["tmpfs", "disk"]', ["tmpfs", "disk"]),
        ("limits.time", '["10s", "1m"]', [10.0, 60.0]),
        ("shm", '["1 MiB", "2 MiB"]', [MEBIBYTE, 2 * MEBIBYTE]),
    ],
)
def test_each_limit_can_vary(tmp_path: Path, key: str, levels: str, values: list[object]) -> None:
    campaign = varied(tmp_path, (key, levels))
    field = {"time": "time_s", "shm": "shm_byte"}.get(key.rpartition(".")[2], key)
    assert [getattr(setting.limits, field) for _, setting in campaign.cells] == values


def test_memory_per_node_can_vary_in_layouts_of_several_nodes(tmp_path: Path) -> None:
    base = BASE.replace('[limits]\nmemory = "1 GiB"', 'layouts = ["1c1p1i", "2c1p2i"]\n')
    campaign = varied(tmp_path, ("memory_per_node", '["64 MiB", "256 MiB"]'), base=base)
    assert {str(setting): setting.limits.memory_byte // MEBIBYTE for _, setting in campaign.cells} == {
        "1c1p1i[memory_per_node=64 MiB]": 64,
        "2c1p2i[memory_per_node=64 MiB]": 128,
        "1c1p1i[memory_per_node=256 MiB]": 256,
        "2c1p2i[memory_per_node=256 MiB]": 512,
    }
    assert {setting.limits.shm_byte for _, setting in campaign.cells} == {32 * MEBIBYTE}
    said = problem(tmp_path, ("memory_per_node", '["64 MiB", "5 GiB"]'), base=base)
    assert "need more than this host's 8 GiB" in said
    both = (("memory", '["64 MiB", "1 GiB"]'), ("memory_per_node", '["64 MiB", "1 GiB"]'))
    assert "vary one of them" in problem(tmp_path, *both, base=BASE.replace('[limits]\nmemory = "1 GiB"', ""))


def test_a_disk_limit_is_one_of_the_bounds(tmp_path: Path) -> None:
    campaign = varied(tmp_path, ("disk", '["1 GiB", "2 GiB"]'))
    assert [setting.limits.bounds.disk_byte for _, setting in campaign.cells] == [1 << 30, 2 << 30]


def test_an_option_of_a_workload_varies_in_every_environment(tmp_path: Path) -> None:
    campaign = varied(tmp_path, ("steps", "[10, 20, 30]"))
    for name in (NATIVE, "docker"):
        own = trials(campaign, name)
        assert [own[f"1c1p1i[steps={count}]"].workload.options["steps"] for count in (10, 20, 30)] == [
            10,
            20,
            30,
        ]
    assert {trial.program for trial in plan_block(campaign, 1, 0)} == {
        f"count[steps={count}]" for count in (10, 20, 30)
    }


def test_what_stands_in_braces_in_a_command_can_vary(tmp_path: Path) -> None:
    path = tmp_path / "campaign.toml"
    command = BASE.replace(
        'name = "count"', 'kind = "command"\nname = "solve"\nargv = ["solve", "-n{n}", "{tools}"]'
    )
    command = (
        command[: command.index('[[environment]]\ntechnology = "bottle"')]
        + command[command.index("[[workload]]") :]
    )
    path.write_text(f'{command}\n[[factor]]\nkey = "n"\nlevels = [10, 2000]\n')
    campaign = load_campaign(path, host_processors=1, host_memory_byte=1 << 31)
    assert [workload.options["argv"] for workload, _ in campaign.cells] == [
        ["solve", "-n10", "{tools}"],
        ["solve", "-n2000", "{tools}"],
    ]
    assert [level.number for level in campaign.factors[0].levels] == [10.0, 2000.0]


def test_an_option_of_an_environment_leaves_native_and_others_as_they_are(tmp_path: Path) -> None:
    campaign = varied(tmp_path, ("cork", '["tight", "loose"]'))
    assert [trial.environment.options for trial in trials(campaign, "docker").values()] == [{}, {}]
    assert trials(campaign, "bottle")["1c1p1i[cork=loose]"].environment.options == {"cork": "loose"}
    (cells,) = campaign.factor_cells
    assert cells.environments == ("bottle",)
    assert [form.options for form in campaign.environments_at_levels if form.name == "bottle"] == [
        {"cork": "tight"},
        {"cork": "loose"},
    ]


def test_a_network_varies_where_an_environment_has_none_of_its_own(tmp_path: Path) -> None:
    base = BASE.replace('cork = "tight"', 'network = "host"')
    campaign = varied(tmp_path, ("network", '["veth", "macvlan"]'), base=base)
    docker, bottle = trials(campaign, "docker"), trials(campaign, "bottle")
    assert docker["1c1p1i[network=veth]"].environment.network is NetworkKind.VETH
    assert {trial.environment.network for trial in bottle.values()} == {NetworkKind.HOST}


def test_layouts_may_be_the_levels(tmp_path: Path) -> None:
    campaign = varied(tmp_path, ("layout", '["1c1p1i", "2c1p2i"]'))
    (cells,) = campaign.factor_cells
    assert [str(setting) for _, setting in campaign.cells] == ["1c1p1i", "2c1p2i"]
    assert (cells.setting, [level.text for level in cells.levels]) == ("", ["1c1p1i", "2c1p2i"])


def test_several_factors_are_combined_in_full_and_averaged_over_each_other(tmp_path: Path) -> None:
    campaign = varied(tmp_path, ("memory", '["64 MiB", "1 GiB"]'), ("steps", "[10, 20, 30]"))
    assert len(campaign.cells) == 6
    memory, steps = campaign.factor_cells
    assert [len(own) for own in memory.cells] == [3, 3]
    assert [len(own) for own in steps.cells] == [2, 2, 2]
    assert memory.cells[0][0] == Cell(workload="count", layout="1c1p1i[memory=64 MiB, steps=10]")


def test_numbers_of_one_unit_make_an_axis_and_anything_else_names(tmp_path: Path) -> None:
    (memory,) = varied(tmp_path, ("memory", '["64 MiB", "1 GiB"]')).factors
    (cork,) = varied(tmp_path, ("cork", '["64 KiB", "tight"]')).factors
    (sizes,) = varied(tmp_path, ("cork", '["64 KiB", "1 MiB"]')).factors
    assert [(level.number, level.unit) for level in memory.levels] == [
        (64.0 * MEBIBYTE, "B"),
        (1024.0 * MEBIBYTE, "B"),
    ]
    assert {level.number for level in cork.levels} == {None}
    assert sizes.levels[1] == Level(key="cork", text="1 MiB", number=1.0 * MEBIBYTE, unit="B")


def test_the_cells_of_a_factor_run_all_blocks(tmp_path: Path) -> None:
    base = BASE.replace("blocks = 6", "blocks = { looks = [6, 8] }")
    design = varied(tmp_path, ("memory", '["64 MiB", "1 GiB"]'), base=base).design
    assert {cell.layout for cell in design.whole} == {"1c1p1i[memory=64 MiB]", "1c1p1i[memory=1 GiB]"}


def test_a_stored_campaign_has_its_factors_and_another_level_is_a_difference(tmp_path: Path) -> None:
    tables = (("memory", '["64 MiB", "1 GiB"]'), ("cork", '["tight", "loose"]'), ("steps", "[1, 2]"))
    campaign = varied(tmp_path, *tables)
    assert kept_and_read(campaign) == campaign
    assert plan_trials(kept_and_read(campaign), 3) == plan_trials(campaign, 3)
    changed = varied(tmp_path, ("memory", '["64 MiB", "512 MiB"]'), *tables[1:])
    assert differences(campaign, changed) == [
        "factor memory: 64 MiB, 1 GiB in the result, 64 MiB, 512 MiB now"
    ]


def test_an_explanation_turns_its_knob_at_one_level(tmp_path: Path) -> None:
    campaign = varied(tmp_path, ("memory", '["64 MiB", "256 MiB"]'), ("cork", '["tight", "loose"]'))
    parent = Parent(path="..", campaign=campaign, session="s", providers=PROVIDERS)
    setting = "1c1p1i[memory=64 MiB, cork=loose]"
    choice = Choice(environment="bottle", layout=setting)
    below = intervention_campaign(parent, choice, [Toggle(text="memory-double")], 6)
    own = {trial.environment.name: trial for trial in plan_block(below, 1, 0)}
    assert {trial.setting for trial in own.values()} == {setting}
    assert own["bottle"].environment.options["cork"] == "loose"
    assert own["bottle"].limits.memory_byte == 64 * MEBIBYTE
    assert {own[name].limits.memory_byte for name in own if "-" in name} == {128 * MEBIBYTE}
    assert setting in folder_name(below)


@pytest.mark.parametrize(
    ("key", "levels", "said"),
    [
        ("hosts", "[1, 2]", "needs hosts: name them by --hosts"),
        ("host", '["a", "b"]', "a campaign's hosts take turns"),
        ("kernel", '["6.1", "6.6"]', "the host's kernel cannot vary within a campaign"),
        ("nodes", "[1, 2]", 'write key = "layout"'),
        ("processes", "[64, 128]", "protects the host"),
        ("memroy", '["64 MiB", "1 GiB"]', "did you mean 'memory'?"),
        ("memory", '["64 MiB", "1 TiB"]', "factor[1].levels[2]"),
        ("memory", '["64 MiB", "64 GiB"]', "more than this host's 8 GiB"),
        ("memory", '["64 MiB", "0.0625 GiB"]', "stands there twice"),
        ("memory", '["64 MiB"]', "levels"),
        ("steps", '["many", "few"]', "steps = 'many': count: "),
        ("steps", "[10, 2000]", "2000 steps do not fit into the memory"),
        ("cork", '[["a"], ["b"]]', "must be text, a number, true or false"),
        ("network", '["veth", "wifi"]', "must be one of"),
        ("cpu_quota", "[0.5, 3]", "3 limits nothing: the largest node has 1 processors"),
        ("layout", '["1c1p1i", "1c1p"]', "is not a layout"),
    ],
)
def test_what_cannot_vary_is_refused_with_its_place_and_reason(
    tmp_path: Path, key: str, levels: str, said: str
) -> None:
    complaint = problem(tmp_path, (key, levels))
    assert said in complaint
    assert any(place in complaint for place in ("factor[1]", "workload[1]", "limits.cpu_quota"))


def test_the_same_key_in_two_places_must_say_which(tmp_path: Path) -> None:
    base = BASE.replace('cork = "tight"', "").replace('"bottle"', '"flask"')
    PROVIDERS["flask"] = StubProvider("flask", {"storage": "where"})
    try:
        said = problem(tmp_path, ("storage", '["tmpfs", "disk"]'), base=base)
        campaign = varied(tmp_path, ("environment.storage", '["a", "b"]'), base=base)
    finally:
        del PROVIDERS["flask"]
    assert "write limits.storage or environment.storage" in said
    assert campaign.factors[0].names == ("flask",)


def test_too_many_combinations_are_refused_before_any_is_made(tmp_path: Path) -> None:
    many = "[" + ", ".join(map(str, range(1, 31))) + "]"
    memories = "[" + ", ".join(f'"{size} MiB"' for size in range(64, 94)) + "]"
    assert "900 combinations of levels, but 200 are the most" in problem(
        tmp_path, ("steps", many), ("memory", memories)
    )
