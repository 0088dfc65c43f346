# SPDX-License-Identifier: Apache-2.0
import json
import re
from pathlib import Path

import pytest

from tare.errors import CampaignError, InputError
from tare.plan.campaign import Campaign, differences, resolve, with_overrides
from tare.records import USUAL_BOUNDS, Bounds, Environment, Layout, Limits, Workload
from tests.plan.plan_example import GOOD, KINDS, MEMORY_BYTE, PROVIDERS, kept_and_read, load, load_text

MINIMAL = """\
name = "small"
[[environment]]
technology = "docker"
[[workload]]
name = "count"
"""


def problems(folder: Path, text: str, **host: int) -> list[str]:
    with pytest.raises(CampaignError) as caught:
        load_text(folder, text, **host)
    assert caught.value.exit_code == 2
    prefix = str(folder / "campaign.toml")
    lines = str(caught.value).splitlines()
    assert all(line.startswith(prefix) for line in lines)
    return [line.removeprefix(prefix) for line in lines]


def line_number(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_full_campaign_is_read_key_by_key(tmp_path: Path) -> None:
    assert load_text(tmp_path, GOOD) == Campaign(
        name="one-host",
        environments=(
            Environment(name="docker", technology="docker"),
            Environment(
                name="small-bottle",
                technology="bottle",
                options={"cork": "tight", "stoppers": ["red", "blue"]},
            ),
            Environment(name="no-op", technology="native"),
        ),
        layouts=(
            Layout(nodes=1, processors=2, instances=1),
            Layout(nodes=1, processors=2, instances=2),
        ),
        workloads=(
            Workload(name="count", kind="count", options={"steps": 30, "known": True}),
            Workload(name="long-count", kind="count", options={"steps": 90, "known": True}),
        ),
        limits=Limits(memory_byte=2**30, shm_byte=2**27, cpu_quota=1.5, time_s=300.0, bounds=USUAL_BOUNDS),
        blocks=12,
        margin=0.02,
        budget_s=1800.0,
        seed=7,
    )


def test_what_is_left_out_has_a_default(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, MINIMAL)
    assert (campaign.blocks, campaign.margin, campaign.budget_s, campaign.seed) == (32, 0.01, None, None)
    assert campaign.looks == (10, 16, 24, 32)
    assert (campaign.precise_absolute, campaign.precise_relative) == (0.01, 0.2)
    assert (campaign.fail_if, campaign.undecided_fails) == ((), True)
    assert campaign.layouts == (Layout.parse("1c1p1i"),)
    assert campaign.limits == Limits(
        memory_byte=2 * 2**30, shm_byte=2**28, cpu_quota=None, time_s=600.0, bounds=USUAL_BOUNDS
    )
    assert Bounds(processes=4096, open_files=65536, core_byte=0) == USUAL_BOUNDS


def test_what_bounds_a_command_is_read_with_its_units(tmp_path: Path) -> None:
    stated = 'processes = 64\nopen_files = 128\noutput = "1 MiB"\ndisk = "2 GiB"\ncore = "3 KiB"\n'
    bounds = load_text(tmp_path, GOOD.replace("[limits]\n", f"[limits]\n{stated}")).limits.bounds
    assert bounds == Bounds(
        processes=64, open_files=128, output_byte=1 << 20, disk_byte=2 << 30, core_byte=3 << 10
    )
    assert bounds.resource_limits == {"core": 3 << 10, "nofile": 128}


def test_a_kept_campaign_without_bounds_has_none(tmp_path: Path) -> None:
    kept = json.loads(json.dumps(load_text(tmp_path, GOOD).to_json()))
    del kept["limits"]["bounds"]
    bounds = Campaign.from_json(kept, "campaign.json", providers=PROVIDERS, kinds=KINDS).limits.bounds
    assert (bounds, bounds.resource_limits) == (Bounds(), {})


def test_the_default_memory_fits_a_small_host(tmp_path: Path) -> None:
    path = tmp_path / "campaign.toml"
    path.write_text(MINIMAL)
    assert load(path, memory_byte=2**30).limits.memory_byte == 2**29


@pytest.mark.parametrize(
    ("text", "looks", "margin"),
    [
        ("blocks = 8", (8,), 0.01),
        ("blocks = { count = 8 }", (8,), 0.01),
        ("blocks = { margin = 0.05 }", (10, 16, 24, 32), 0.05),
        ("blocks = { looks = [6, 12, 20], margin = 0.03 }", (6, 12, 20), 0.03),
        ("[blocks]\ncount = 9", (9,), 0.01),
    ],
)
def test_blocks_are_a_number_or_a_table(
    tmp_path: Path, text: str, looks: tuple[int, ...], margin: float
) -> None:
    campaign = load_text(tmp_path, MINIMAL.replace("[[environment]]", f"{text}\n[[environment]]", 1))
    assert (campaign.blocks, campaign.looks, campaign.margin) == (looks[-1], looks, margin)


BROKEN_KEYS = [
    ("budget = ", 'budgte = "1m"\nbudget = ', "budgte: unknown key; did you mean 'budget'?"),
    ('technology = "docker"', 'technology = "dokcer"', "unknown technology 'dokcer'; did you mean 'docker'?"),
    ('technology = "docker"', 'technology = "shifter"', "technology: shifter is not supported: it "),
    (
        'cork = "tight"',
        'crok = "tight"',
        "environment[2].crok: bottle has no such option; did you mean 'cork'?",
    ),
    ('name = "count"', 'name = "cuont"', "unknown workload 'cuont'; did you mean 'count'?"),
    ("steps = 30", "stepz = 30", "workload[1].stepz: unknown key; did you mean 'steps'?"),
    ("shm = ", 'smh = "1 MiB"\nshm = ', "limits.smh: unknown key; did you mean 'shm'?"),
    (
        "[[environment]]\ntechnology",
        "[[enviroment]]\na = 1\n[[environment]]\ntechnology",
        "did you mean 'environment'?",
    ),
    ('name = "one-host"', "name = 5", 'name: must be text such as "my-name", but is 5'),
    ('name = "one-host"', 'name = "../up"', "name: '../up' is not a name"),
    ('name = "small-bottle"', 'name = "a-1c2p1i-b"', "looks like a layout"),
    ("seed = 7", "seed = 1.5", "seed: must be a whole number, but is 1.5"),
    ("seed = 7", "seed = true", "seed: must be a whole number, but is true"),
    ("seed = 7", "seed = -1", "seed: must be greater than or equal to 0"),
    ("seed = 7", "seed = 99999999999999999999", "seed: must be a finite number of at most 64 bits"),
    ("{ count = 12, margin = 0.02 }", "0", "blocks: must be greater than or equal to 1, but is 0"),
    ("{ count = 12, margin = 0.02 }", "9999999", "blocks: must be less than or equal to 1000"),
    ("{ count = 12, margin = 0.02 }", '"many"', "blocks: must be a number such as 10"),
    ("{ count = 12, margin = 0.02 }", "{ count = 12, looks = [3] }", "has both count and looks"),
    ("{ count = 12, margin = 0.02 }", "{ looks = [] }", "blocks.looks: "),
    ("{ count = 12, margin = 0.02 }", "{ looks = [16, 10] }", "looks must rise"),
    ("margin = 0.02", "margin = nan", "blocks.margin: must be"),
    ("margin = 0.02", "margin = 2", "blocks.margin: must be less than 1"),
    ('budget = "30m"', 'budget = "soon"', "budget: 'soon' is not a duration"),
    ('budget = "30m"', 'budget = "0s"', "budget: '0s' must be more than 0"),
    ('budget = "30m"', 'budget = "-5m"', "budget: '-5m' is not a duration"),
    ('budget = "30m"', "budget = 30", 'budget: must be text such as "10m", but is 30'),
    ('budget = "30m"', f'budget = "{"9" * 400}h"', "is more than a year"),
    ('time = "5m"', 'time = "0ms"', "limits.time: '0ms' must be more than 0"),
    ("cpu_quota = 1.5", "processes = 31", "limits.processes: must be greater than or equal to 32"),
    ("cpu_quota = 1.5", 'processes = "64"', "limits.processes: must be a"),
    ("cpu_quota = 1.5", "open_files = 1.5", "limits.open_files: must be a"),
    ("cpu_quota = 1.5", 'output = "0 MiB"', "limits.output: '0 MiB' must be more than 0"),
    ("cpu_quota = 1.5", "disk = 5", 'limits.disk: must be text such as "256 MiB", but is 5'),
    ("cpu_quota = 1.5", "core = false", 'limits.core: must be text such as "1 GiB"'),
    ('["1c2p1i", "1c2p2i"]', "[]", "layouts: "),
    ('["1c2p1i", "1c2p2i"]', '"1c2p1i"', "layouts: must be a list in [ ], but is '1c2p1i'"),
    ('["1c2p1i", "1c2p2i"]', '["two"]', "layouts[1]: 'two' is not a layout; write NcMpKi"),
    ('["1c2p1i", "1c2p2i"]', '["1c0p1i"]', "layouts[1]: '1c0p1i' is not a layout"),
    ('["1c2p1i", "1c2p2i"]', f'["1c{"9" * 5000}p1i"]', "is not a layout"),
    ('["1c2p1i", "1c2p2i"]', '["1c65p1i"]', "'1c65p1i' needs 65 processors, and this host offers 4"),
    ('["1c2p1i", "1c2p2i"]', '["9c1p4i"]', "4 instances cannot share 9 nodes of 1 processors equally"),
    ('["1c2p1i", "1c2p2i"]', '["1c4p3i"]', "cannot share one node of 4 processors equally; allowed: 1, 2, 4"),
    ('["1c2p1i", "1c2p2i"]', '["1c2p1i", "1c2p1i"]', "layouts: a layout stands there twice"),
    ('memory = "1 GiB"', 'memory = "9 GiB"', "limits.memory: '9 GiB' is more than this host's 8 GiB"),
    ('memory = "1 GiB"', 'memory = "1 KiB"', "limits.memory: '1 KiB' is too little"),
    ('memory = "1 GiB"', 'memory = "1 GB!"', "limits.memory: '1 GB!' is not a size"),
    ('memory = "1 GiB"', "memory = inf", "limits.memory: must be a finite number"),
    ('memory = "1 GiB"', f'memory = "{"9" * 400}"', "limits.memory: "),
    ('shm = "128 MiB"', 'shm = "2 GiB"', "limits: shm of 2 GiB is more than the memory of 1 GiB"),
    ("cpu_quota = 1.5", "cpu_quota = 3", "limits.cpu_quota: 3 limits nothing"),
    ("cpu_quota = 1.5", "cpu_quota = 0", "limits.cpu_quota: must be greater than or equal to 0.01"),
    ("cpu_quota = 1.5", "cpu_quota = nan", "limits.cpu_quota: must be"),
    ('cork = "tight"', "cork = nan", "environment[2].cork: must be a finite number"),
    ('cork = "tight"', "cork = 2020-01-01", "environment[2].cork: must be text, a number"),
    ('cork = "tight"', "cork = [1]", "environment[2].cork: must be text, a number"),
    ('cork = "tight"', "cork = { a = 1 }", "environment[2].cork: must be text, a number"),
    ("steps = 30", 'steps = "x"', "workload[1].steps: must be a whole number, but is 'x'"),
    (
        'name = "small-bottle"',
        'name = "docker"',
        "environment[2].name: 'docker' is also the name of environment[1]",
    ),
    ('name = "long-count"', 'name = "count"', "workload[2].name: 'count' is also the name of workload[1]"),
    ('name = "no-op"', "", "environment[3].name: native is always measured"),
    ('name = "no-op"', 'name = "Native"', "environment[3].name: native is always measured"),
    ('kind = "count"', 'kind = ""', "workload[2].kind: unknown workload ''"),
    ('kind = "count"\nname = "long-count"', "", "workload[2]: has no name; write name = one of count"),
]


@pytest.mark.parametrize(("good", "bad", "words"), BROKEN_KEYS)
def test_each_mistake_is_told_with_its_line(tmp_path: Path, good: str, bad: str, words: str) -> None:
    text = GOOD.replace(good, bad, 1)
    assert text != GOOD
    (line,) = problems(tmp_path, text)
    assert words in line
    number, path = line.removeprefix(":").split(": ")[:2]
    written = text.splitlines()[int(number) - 1]
    assert re.split(r"[.\[]", path.rstrip("]0123456789["))[-1] in written or written.startswith("[[")


def test_a_workload_that_does_not_fit_is_told_for_each_layout(tmp_path: Path) -> None:
    result = problems(tmp_path, GOOD.replace("steps = 90", "steps = 600"))
    line = line_number(GOOD, 'kind = "count"') - 1
    assert result == [
        f":{line}: workload[2]: in layout 1c2p2i: 600 steps do not fit into the memory; give fewer"
    ]


def test_a_misspelt_key_is_told_with_exactly_its_line(tmp_path: Path) -> None:
    text = GOOD.replace("steps = 90", "# why\nstepz = 90")
    (line,) = problems(tmp_path, text)
    assert line.startswith(f":{line_number(text, 'stepz')}: ")


def test_every_problem_has_a_line_of_its_own_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = GOOD.replace("seed = 7", "seed = -7").replace("cork", "krok").replace("steps = 90", 'steps = "x"')
    result = problems(tmp_path, text)
    assert [line.split(": ")[1] for line in result] == ["seed", "environment[2].krok", "workload[2].steps"]


@pytest.mark.parametrize("key", ["environment", "workload"])
@pytest.mark.parametrize("value", ["[]", "5", "{ a = 1 }", '"docker"', "[1, 2]"])
def test_tables_that_are_none_are_told(tmp_path: Path, key: str, value: str) -> None:
    without = re.sub(rf"(?ms)^\[\[{key}\]\].*?(?=^\[\[|\Z)", "", GOOD)
    result = problems(tmp_path, f"{key} = {value}\n{without}")
    assert all(line.startswith(f":1: {key}") for line in result)


@pytest.mark.parametrize("key", ["environment", "workload"])
def test_missing_tables_are_told(tmp_path: Path, key: str) -> None:
    without = re.sub(rf"(?ms)^\[\[{key}\]\].*?(?=^\[\[|\Z)", "", GOOD)
    assert problems(tmp_path, without) == [f": has no [[{key}]]; add at least one"]


def test_a_missing_name_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path, GOOD.replace('name = "one-host"', "", 1)) == [": name: is missing"]


def test_too_many_trials_are_refused(tmp_path: Path) -> None:
    many = "".join(f'[[workload]]\nkind = "count"\nname = "w{number}"\n' for number in range(40))
    text = GOOD.replace("count = 12", "count = 1000") + many
    assert "makes 420000 trials" in problems(tmp_path, text)[0]


def test_text_that_is_not_toml_is_told_with_its_line(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, 'name = "a"\nblocks = = 3\n')
    assert line.startswith(":2: is not TOML: ")


@pytest.mark.parametrize(
    ("content", "words"), [(b"a = 1\nb = \xff", ":2: is not UTF-8: byte 0xff at offset 10")]
)
def test_bytes_that_are_not_utf8_are_told_with_their_offset(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "campaign.toml"
    path.write_bytes(content)
    with pytest.raises(CampaignError, match=re.escape(str(path) + words)):
        load(path)


@pytest.mark.parametrize(
    "content", ["a = " + "[" * 5000, "a = " + "9" * 5000, "a = " + "{b=" * 2000, "a." * 90_000 + "b = 1"]
)
def test_excess_is_refused_without_a_traceback(tmp_path: Path, content: str) -> None:
    path = tmp_path / "campaign.toml"
    path.write_text(content)
    with pytest.raises(CampaignError, match=re.escape(str(path))):
        load(path)


def test_a_missing_file_offers_a_near_one(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    with pytest.raises(CampaignError, match=r"no such file; did you mean 'mine\.toml'\?"):
        load(tmp_path / "mien.toml")


def test_a_missing_file_offers_a_near_preset(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"no such file; did you mean 'smoke'\?"):
        load(tmp_path / "smok")
    with pytest.raises(CampaignError, match=r"no such file; presets: .*quick"):
        load(tmp_path / "unlike" / "anything.toml")


def test_a_directory_and_an_endless_device_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="is a directory"):
        load(tmp_path)
    with pytest.raises(CampaignError, match="not a regular file"):
        load(Path("/dev/zero"))


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "campaign.toml"
    path.write_text("#" * (256 * 1024 + 1))
    with pytest.raises(CampaignError, match="larger than 256 KiB"):
        load(path)


@pytest.mark.parametrize("text", ["quikc", "", "\0", "a\nb", "\ud800", "x" * 9000, "./quick", "no/such.toml"])
def test_what_names_nothing_is_told(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CampaignError) as caught:
        resolve(text, host_processors=2, host_memory_byte=MEMORY_BYTE, providers=PROVIDERS, kinds=KINDS)
    str(caught.value).encode()
    assert "\n" not in str(caught.value)


def test_a_near_preset_is_offered() -> None:
    with pytest.raises(CampaignError, match="did you mean 'quick'"):
        resolve("quikc", host_processors=2, host_memory_byte=MEMORY_BYTE)


def test_control_characters_never_reach_the_terminal(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, GOOD.replace("seed = 7", '"\\u001b[31m\\n" = 7'))
    assert "\x1b" not in line


def test_the_kept_form_gives_the_campaign_back(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, GOOD)
    assert kept_and_read(campaign) == campaign


@pytest.mark.parametrize(
    "damage",
    [
        {"schema": 2},
        {"blocks": "x"},
        {"blocks": 0},
        {"limits": None},
        {"layouts": [{"nodes": 1, "processors": 2, "instances": 0}]},
        {"environments": [{"name": "a", "technology": "ship", "options": {}}]},
        {"workloads": [{"name": "a", "kind": "song", "options": {}}]},
        {"workloads": [{"name": "a", "kind": "count", "options": {"steps": "x"}}]},
    ],
)
def test_a_damaged_kept_form_is_told(tmp_path: Path, damage: dict[str, object]) -> None:
    data = load_text(tmp_path, GOOD).to_json() | damage
    with pytest.raises(CampaignError, match=r"^result/campaign\.json: "):
        Campaign.from_json(data, "result/campaign.json", providers=PROVIDERS, kinds=KINDS)


@pytest.mark.parametrize("data", [None, [], "x", {}, {"schema": 1}])
def test_a_kept_form_that_is_none_is_told(data: object) -> None:
    with pytest.raises(CampaignError, match=r"^campaign\.json: "):
        Campaign.from_json(data, "campaign.json")


def test_the_order_of_tables_makes_no_difference(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, GOOD)
    turned = GOOD.replace('"1c2p1i", "1c2p2i"', '"1c2p2i", "1c2p1i"')
    assert differences(campaign, load_text(tmp_path, turned)) == []


@pytest.mark.parametrize(
    ("good", "other", "words"),
    [
        ("count = 12", "count = 13", "blocks: 12 in the result, 13 now"),
        (
            'cork = "tight"',
            'cork = "loose"',
            "environment small-bottle.options.cork: tight in the result, loose now",
        ),
        ('cork = "tight"', "", "environment small-bottle.options.cork: tight in the result, absent now"),
        ("steps = 90", "steps = 91", "workload long-count.options.steps: 90 in the result, 91 now"),
        ("cpu_quota = 1.5", "", "limits.cpu_quota: 1.5 in the result, none now"),
    ],
)
def test_a_difference_is_told_in_words(tmp_path: Path, good: str, other: str, words: str) -> None:
    campaign = load_text(tmp_path, GOOD)
    assert differences(campaign, load_text(tmp_path, GOOD.replace(good, other))) == [words]


def test_the_command_line_overrides_and_leaves_the_rest(tmp_path: Path) -> None:
    campaign = load_text(tmp_path, GOOD)
    assert with_overrides(campaign) == campaign
    changed = with_overrides(campaign, blocks=3, budget_s=5.0, seed=0)
    assert (changed.blocks, changed.budget_s, changed.seed) == (3, 5.0, 0)
    assert changed.environments == campaign.environments


@pytest.mark.parametrize("override", [{"blocks": 0}, {"blocks": 1001}, {"seed": -1}, {"seed": 2**63}])
def test_an_override_out_of_range_is_refused(tmp_path: Path, override: dict[str, int]) -> None:
    with pytest.raises(InputError):
        with_overrides(load_text(tmp_path, GOOD), blocks=override.get("blocks"), seed=override.get("seed"))


@pytest.mark.parametrize("budget_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_budget_without_end_or_sense_is_refused(tmp_path: Path, budget_s: float) -> None:
    with pytest.raises(InputError):
        with_overrides(load_text(tmp_path, GOOD), budget_s=budget_s)
