# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import CampaignError
from tare.plan.budget import fits
from tare.plan.campaign import Campaign, differences, load_campaign
from tare.plan.sharing import alone_of
from tare.plan.trials import plan_block, plan_trials
from tare.records import NATIVE, Layout
from tests.plan.plan_example import KINDS, kept_and_read, load_text

TOGETHER = """\
name = "shared"
blocks = 6

[limits]
memory = "1 GiB"

[[environment]]
technology = "docker"

[[environment]]
technology = "bottle"

[[workload]]
name = "count"

[[sharing]]
alone = "1c1p1i"
together = ["1c2p2i", "2c1p2i"]
"""
BESIDE = TOGETHER.replace(
    'together = ["1c2p2i", "2c1p2i"]', 'neighbour = { workload = "noise", environment = "docker", count = 3 }'
).replace("[[sharing]]", '[[workload]]\nname = "noise"\nkind = "count"\nmeasure = false\n\n[[sharing]]')
MEBIBYTE = 1 << 20
INDEPENDENT = st.builds(
    lambda nodes, each, ranks: Layout(nodes=nodes, processors=each * ranks, instances=nodes * each),
    *[st.integers(1, 6)] * 3,
)
COOPERATIVE = st.builds(
    lambda instances, span, processors: Layout(
        nodes=instances * span, processors=processors, instances=instances
    ),
    st.integers(1, 6),
    st.integers(2, 6),
    st.integers(1, 6),
)


def memory_of(campaign: Campaign) -> dict[str, int]:
    return {str(setting): setting.limits.memory_byte for setting in campaign.settings}


def problem(folder: Path, text: str) -> str:
    with pytest.raises(CampaignError) as caught:
        load_text(folder, text)
    return str(caught.value).removeprefix(str(folder / "campaign.toml"))


def test_the_layouts_of_an_experiment_need_not_be_asked_for(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, TOGETHER)
    assert [str(layout) for layout in campaign.layouts] == ["1c1p1i", "1c2p2i", "2c1p2i"]
    more = load_text(tmp_path, f'layouts = ["1c2p1i", "1c1p1i"]\n{TOGETHER}')
    assert [str(layout) for layout in more.layouts] == ["1c2p1i", "1c1p1i", "1c2p2i", "2c1p2i"]


def test_every_instance_has_the_same_memory_and_the_fullest_trial_takes_the_limit(tmp_path: Path) -> None:
    text = f'layouts = ["1c2p1i"]\n{TOGETHER}'.replace('"2c1p2i"', '"4c1p4i"')
    assert memory_of(load_text(tmp_path, text)) == {
        "1c2p1i": 1024 * MEBIBYTE,
        "1c1p1i": 256 * MEBIBYTE,
        "1c2p2i": 512 * MEBIBYTE,
        "4c1p4i": 1024 * MEBIBYTE,
    }


def test_neighbours_take_as_much_memory_as_the_node_beside_them(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, BESIDE)
    assert memory_of(campaign) == {"1c1p1i": 256 * MEBIBYTE, "1c1p1i+3xnoise@docker": 256 * MEBIBYTE}
    layout, limits = campaign.settings[1].neighbour_node
    assert (str(layout), limits.memory_byte) == ("1c1p1i", 256 * MEBIBYTE)


def test_tables_with_the_same_instance_are_one_experiment(tmp_path: Path) -> None:
    text = BESIDE + '\n[[sharing]]\nalone = "1c1p1i"\ntogether = ["1c2p2i"]\n'
    assert set(memory_of(load_text(tmp_path, text)).values()) == {256 * MEBIBYTE, 512 * MEBIBYTE}


def test_every_arm_runs_alone_and_with_company_in_every_block_and_native_twice(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, TOGETHER)
    trials = plan_trials(campaign, 1)
    counts = Counter((trial.block, trial.setting, trial.environment.name) for trial in trials)
    settings = ("1c1p1i", "1c2p2i", "2c1p2i")
    expected = {
        (block, setting, name): 2 if name == NATIVE else 1
        for block in range(6)
        for setting in settings
        for name in (NATIVE, "docker", "bottle")
    }
    assert counts == expected
    assert fits(campaign, trials, kinds=KINDS).planned_trials == 6 * 3 * 4


def test_a_trial_knows_its_neighbour_and_is_named_after_it(tmp_path: Path) -> None:
    trials = [trial for trial in plan_block(load_text(tmp_path, BESIDE), 1, 0) if trial.neighbour]
    assert {trial.identity for trial in trials} == {
        f"b000-count-1c1p1i+3xnoise@docker-{arm}" for arm in ("native-0", "native-1", "docker-0", "bottle-0")
    }
    for trial in trials:
        assert trial.neighbour is not None
        assert trial.neighbour.environment.name == "docker"
        assert (trial.neighbour.workload.name, trial.neighbour.count) == ("noise", 3)


def test_a_neighbour_without_environment_is_in_that_of_the_instance_beside_it(tmp_path: Path) -> None:
    text = BESIDE.replace(', environment = "docker"', "")
    trials = [trial for trial in plan_block(load_text(tmp_path, text), 1, 0) if trial.neighbour]
    assert {trial.setting for trial in trials} == {"1c1p1i+3xnoise"}
    for trial in trials:
        assert trial.neighbour is not None
        assert trial.neighbour.environment == trial.environment


def test_native_can_be_the_neighbour_of_all(tmp_path: Path) -> None:
    trials = plan_block(load_text(tmp_path, BESIDE.replace('"docker", count', '"native", count')), 1, 0)
    beside = {trial.neighbour.environment.technology for trial in trials if trial.neighbour}
    assert beside == {NATIVE}


def test_what_only_serves_as_a_neighbour_is_no_cell_of_its_own(tmp_path: Path) -> None:
    text = BESIDE.replace('technology = "docker"', 'technology = "docker"\nmeasure = false')
    campaign = load_text(tmp_path, text)
    assert [workload.name for workload in campaign.workloads] == ["count"]
    assert [environment.name for environment in campaign.environments] == ["bottle"]
    assert [environment.name for environment in campaign.needed_environments] == ["bottle", "docker"]
    assert {trial.workload.name for trial in plan_block(campaign, 1, 0)} == {"count"}


def test_a_neighbours_environment_is_not_multiplied_by_the_networks(tmp_path: Path) -> None:
    text = 'networks = ["veth", "host"]\n' + BESIDE.replace(
        'technology = "docker"', 'technology = "docker"\nmeasure = false'
    )
    names = [environment.name for environment in load_text(tmp_path, text).needed_environments]
    assert names == ["bottle-veth", "bottle-host", "docker"]


def test_shared_cells_name_each_company_and_what_it_is_compared_with(tmp_path: Path) -> None:
    text = BESIDE + '\n[[sharing]]\nalone = "1c2p1i"\ntogether = ["1c4p2i"]\n'
    result = {(pair.shared.layout, pair.alone.layout) for pair in load_text(tmp_path, text).shared_cells}
    assert result == {("1c1p1i+3xnoise@docker", "1c1p1i"), ("1c4p2i", "1c2p1i")}


def test_the_cells_of_an_experiment_stay_together_in_a_block_in_any_order(tmp_path: Path) -> None:
    text = TOGETHER.replace("[[sharing]]", '[[workload]]\nname = "other"\nkind = "count"\n\n[[sharing]]')
    campaign = load_text(tmp_path, f'layouts = ["1c2p1i", "1c4p1i"]\n{text}')
    experiment = {("count", setting) for setting in ("1c1p1i", "1c2p2i", "2c1p2i")}
    orders = set()
    for block in range(40):
        cells = [(trial.workload.name, trial.setting) for trial in plan_block(campaign, 1, block)]
        places = [place for place, cell in enumerate(cells) if cell in experiment]
        assert places == list(range(places[0], places[0] + 3 * 4))
        orders.add(tuple(dict.fromkeys(cells)))
    assert len(orders) > 30


def test_a_kept_campaign_reads_back_with_its_experiments(tmp_path: Path) -> None:
    for text in (TOGETHER, BESIDE):
        campaign = load_text(tmp_path, text)
        assert kept_and_read(campaign) == campaign


def test_a_changed_experiment_is_a_difference(tmp_path: Path) -> None:
    kept = load_text(tmp_path, BESIDE)
    assert differences(kept, load_text(tmp_path, BESIDE)) == []
    louder = BESIDE.replace('kind = "count"', 'kind = "count"\nsteps = 11')
    assert any(
        "steps: 10 in the result, 11 now" in row for row in differences(kept, load_text(tmp_path, louder))
    )
    assert any("sharing of 1c1p1i" in row for row in differences(kept, load_text(tmp_path, TOGETHER)))


@given(INDEPENDENT | COOPERATIVE)
def test_an_instance_by_itself_has_as_many_processes_on_as_many_nodes(layout: Layout) -> None:
    alone = alone_of(layout)
    assert alone.instances == 1
    assert alone.ranks == layout.ranks
    assert alone_of(alone) == alone


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('alone = "1c1p1i"\n', "", ":16: sharing[1].alone: is missing"),
        ('alone = "1c1p1i"', 'alone = "one"', "sharing[1].alone: 'one' is not a layout"),
        (
            'alone = "1c1p1i"',
            'alone = "1c2p2i"',
            ":18: sharing[1].together[1]: 1c2p2i is not several groups of 1c2p2i; two at once are 2c2p4i",
        ),
        ('"2c1p2i"', '"1c4p2i"', "together[2]: an instance of 1c4p2i by itself is 1c2p1i, not 1c1p1i"),
        (
            '"2c1p2i"',
            '"1c1p1i"',
            ":18: sharing[1].together[2]: 1c1p1i has one instance, so it has no company",
        ),
        ('"2c1p2i"', '"1c2p2i"', ":16: sharing[1]: 1c2p2i is already in sharing[1]"),
        ('"2c1p2i"', '"65c1p65i"', "'65c1p65i' needs 65 processors, and this host offers 4"),
        ('together = ["1c2p2i", "2c1p2i"]', "", ":16: sharing[1]: has no company: give together"),
        ('together = ["1c2p2i", "2c1p2i"]', "together = []", "sharing[1].together: "),
        ("together", "togehter", "sharing[1].togehter: unknown key; did you mean 'together'?"),
        ("[[sharing]]", "[sharing]", ":16: sharing: is one table; write [[sharing]]"),
        (
            'memory = "1 GiB"',
            'memory = "24 MiB"',
            "sharing[1]: leaves each node 12 MiB of the memory of 24 MiB",
        ),
        ('memory = "1 GiB"', "cpu_quota = 0.5", "an instance would get less of it in 1c2p2i than in 1c1p1i"),
    ],
)
def test_a_wrong_experiment_is_told_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert TOGETHER.count(old) >= 1
    assert said in problem(tmp_path, TOGETHER.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'workload = "noise"',
            'workload = "nosie"',
            "workload: there is no [[workload]] 'nosie'; did you mean 'noise'",
        ),
        (
            'environment = "docker"',
            'environment = "dokcer"',
            "no [[environment]] 'dokcer'; did you mean 'docker'",
        ),
        ("count = 3", "count = 0", "sharing[1].neighbour.count: must be greater than or equal to 1"),
        ("count = 3", "count = 64", "count: with its neighbours, 1c1p1i needs 65 processors"),
        ("count = 3", "cuont = 3", "sharing[1].neighbour.cuont: unknown key; did you mean 'count'?"),
        (
            'name = "noise"',
            'name = "noise"\nsteps = 300',
            "as neighbour in 1c1p1i+3xnoise@docker: 300 steps do not fit",
        ),
        ('name = "count"\n', 'name = "count"\nmeasure = false\n', "no [[workload]] is measured"),
        ('technology = "bottle"', 'technology = "bottle"\nmeasure = false', "bottle is neither measured nor"),
        ("measure = false", "measure = 0", "measure: must be true or false"),
    ],
)
def test_a_wrong_neighbour_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert BESIDE.count(old) >= 1
    assert said in problem(tmp_path, BESIDE.replace(old, new, 1))


def test_a_neighbour_that_stands_twice_is_refused(tmp_path: Path) -> None:
    again = BESIDE + BESIDE[BESIDE.index("[[sharing]]") :]
    assert "1c1p1i+3xnoise@docker is already in sharing[1]" in problem(tmp_path, again)


def test_names_that_would_make_two_trials_alike_are_refused(tmp_path: Path) -> None:
    text = (
        BESIDE.replace(", count = 3 }", " }")
        + '\n[[sharing]]\nalone = "1c1p1i"\nneighbour = { workload = "noise", environment = "docker-bottle" }\n'
    )
    names = ("docker-bottle", "x", "bottle-x")
    text += "".join(f'\n[[environment]]\nname = "{name}"\ntechnology = "docker"\n' for name in names)
    assert "two trials would be called b000-count-1c1p1i+1xnoise@docker-bottle-x-0" in problem(tmp_path, text)


def test_the_place_of_a_misfit_is_its_own_table(tmp_path: Path) -> None:
    text = BESIDE.replace('name = "count"', 'name = "count"\nsteps = 300')
    assert problem(tmp_path, text).startswith(":13: workload[1]: in layout 1c1p1i: 300 steps do not fit")


def test_a_campaign_without_experiments_has_the_limits_as_they_stand(tmp_path: Path) -> None:
    plain = load_text(tmp_path, TOGETHER[: TOGETHER.index("[[sharing]]")])
    assert {trial.limits for trial in plan_block(plain, 7, 0)} == {plain.limits}
    assert plain.shared_cells == ()


TABLE_III = (
    TOGETHER[: TOGETHER.index("[[sharing]]")]
    + """
[[sharing]]
alone = "1c4p1i"
together = ["1c4p2i", "1c4p4i"]

[[sharing]]
alone = "1c2p2i"
together = ["2c2p4i"]

[[sharing]]
alone = "1c1p1i"
together = ["2c1p2i", "4c1p4i"]
"""
)


def test_a_group_alone_is_compared_with_groups_together_and_a_node_with_a_fuller_one(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, TABLE_III)
    pairs = [(pair.alone.layout, pair.shared.layout) for pair in campaign.shared_cells]
    assert pairs == [
        ("1c4p1i", "1c4p2i"),
        ("1c4p1i", "1c4p4i"),
        ("1c2p2i", "2c2p4i"),
        ("1c1p1i", "2c1p2i"),
        ("1c1p1i", "4c1p4i"),
    ]
    instances = {setting.limits.memory_byte // setting.layout.instances for setting in campaign.settings}
    assert instances == {256 * MEBIBYTE}
    assert kept_and_read(campaign) == campaign
    assert all(trial.turns is None for trial in plan_block(campaign, 1, 0))


def test_tables_that_share_a_layout_are_one_experiment_with_one_memory(tmp_path: Path) -> None:
    text = f'{TOGETHER}\n[[sharing]]\nalone = "1c2p2i"\ntogether = ["4c2p8i"]\n'
    campaign = load_text(tmp_path, text)
    assert {setting.limits.memory_byte // setting.layout.instances for setting in campaign.settings} == {
        128 * MEBIBYTE
    }
    assert len({setting.close_to for setting in campaign.settings}) == 1
    shared = {(pair.alone.layout, pair.shared.layout) for pair in campaign.shared_cells}
    assert shared == {("1c1p1i", "1c2p2i"), ("1c1p1i", "2c1p2i"), ("1c2p2i", "4c2p8i")}


def test_a_neighbour_takes_its_part_beside_a_group_too(tmp_path: Path) -> None:
    text = BESIDE.replace('alone = "1c1p1i"', 'alone = "1c2p2i"').replace("count = 3", "count = 1")
    assert memory_of(load_text(tmp_path, text)) == {
        "1c2p2i": 512 * MEBIBYTE,
        "1c2p2i+1xnoise@docker": 512 * MEBIBYTE,
    }


def test_work_that_depends_on_an_instances_processors_is_refused_in_a_fuller_node(tmp_path: Path) -> None:
    work = 'name = "work"\nkind = "command"\nmpi = true\nargv = ["work"]'
    text = TABLE_III.replace('name = "count"', work).replace('"bottle"', '"podman"')
    path = tmp_path / "all-kinds.toml"
    path.write_text(text)
    with pytest.raises(
        CampaignError, match="4 processors in 1c4p1i and 2 in 1c4p2i, and would do something else"
    ):
        load_campaign(path, host_processors=4, host_memory_byte=1 << 33)
    path.write_text(text.replace("mpi = true", "mpi = true\nranks = 1"))
    assert len(load_campaign(path, host_processors=4, host_memory_byte=1 << 33).shared_cells) == 5


def test_a_node_cannot_be_filled_where_its_memory_is_stated(tmp_path: Path) -> None:
    text = TABLE_III.replace('memory = "1 GiB"', 'memory_per_node = "256 MiB"')
    said = problem(tmp_path, text)
    assert "sharing[1]: limits.memory_per_node is of a node" in said
    groups = text[: text.index("[[sharing]]")] + text[text.rindex('[[sharing]]\nalone = "1c2p2i"') :]
    assert memory_of(load_text(tmp_path, groups)) == {
        "1c2p2i": 256 * MEBIBYTE,
        "2c2p4i": 512 * MEBIBYTE,
        "1c1p1i": 256 * MEBIBYTE,
        "2c1p2i": 512 * MEBIBYTE,
        "4c1p4i": 1024 * MEBIBYTE,
    }


def test_the_plan_says_how_many_blocks_all_losses_together_take(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, TABLE_III)
    warned = fits(campaign, plan_trials(campaign, 1), kinds=KINDS).warnings
    assert warned == (
        "6 blocks can show no loss when all 15 losses by primary metrics are judged together, which takes 10",
    )
