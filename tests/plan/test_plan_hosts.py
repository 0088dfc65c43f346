# SPDX-License-Identifier: Apache-2.0
"""``[[host]]``: layouts over hosts, and which hosts a block has."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.environments import PROVIDERS as ALL
from tare.errors import CampaignError, InputError
from tare.host import slurm
from tare.host.slurm import Allocation
from tare.plan.campaign import Campaign, resolve
from tare.plan.entries import FAR
from tare.plan.hosts import HostTable
from tare.plan.schema import Host
from tare.plan.trials import hosts_of_block, plan_trials
from tare.records import Layout, NamedHost, Spread
from tests.fake_campaign import fake_campaign
from tests.plan.plan_example import KINDS, PROVIDERS, kept_and_read

GIBIBYTE = 1 << 30
CAMPAIGN = """\
name = "wire"
blocks = 6
layouts = ["8c1p1i on 2"]

[[host]]
address = "root@node1"

[[host]]
address = "node2"
become = ["sudo", "-n"]

[[host]]

[[environment]]
technology = "bottle"

[[workload]]
name = "count"
"""


def sizes(hosts: Sequence[NamedHost]) -> Mapping[str, Host]:
    """Each has four processors and 4 GiB, the first 8 processors."""
    return {host.name: Host(4 if number else 8, 4 * GIBIBYTE) for number, host in enumerate(hosts)}


def load(folder: Path, text: str = CAMPAIGN) -> Campaign:
    path = folder / "campaign.toml"
    path.write_text(text)
    return resolve(
        str(path),
        host_processors=1,
        host_memory_byte=GIBIBYTE,
        providers={**PROVIDERS, FAR: ALL[FAR]},
        kinds=KINDS,
        sizes=sizes,
    )


def test_a_host_has_the_name_of_its_address_and_this_one_is_here(tmp_path: Path) -> None:
    campaign = load(tmp_path)
    assert [(host.name, host.address) for host in campaign.hosts] == [
        ("node1", "root@node1"),
        ("node2", "node2"),
        ("here", None),
    ]
    assert campaign.hosts[1].become == ("sudo", "-n")
    assert kept_and_read(campaign) == campaign


def test_all_trials_of_a_block_are_on_the_same_hosts_and_every_host_has_its_turn(tmp_path: Path) -> None:
    trials = plan_trials(load(tmp_path), 7)
    used = {trial.block: trial.hosts for trial in trials}
    assert all(trial.hosts == used[trial.block] for trial in trials)
    assert Counter(name for hosts in used.values() for name in hosts) == {"node1": 4, "node2": 4, "here": 4}
    assert len(set(used.values())) > 1


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**63 - 1))
def test_after_as_many_blocks_as_hosts_each_host_had_the_layout_as_often(
    many: int, wanted: int, seed: int
) -> None:
    wanted = min(many, wanted)
    hosts = tuple(NamedHost(name=f"h{number}") for number in range(many))
    campaign = replace(fake_campaign(), hosts=hosts)
    layout = Layout(nodes=wanted, processors=1, instances=1, hosts=wanted)
    blocks = [hosts_of_block(campaign, seed, block, layout) for block in range(many)]
    assert all(len(set(chosen)) == wanted for chosen in blocks)
    assert set(Counter(name for chosen in blocks for name in chosen).values()) == {wanted}


def test_hosts_meet_in_other_pairs_so_that_each_can_be_told_from_the_others() -> None:
    campaign = replace(fake_campaign(), hosts=tuple(NamedHost(name=name) for name in "abcd"))
    layout = Layout(nodes=2, processors=1, instances=1, hosts=2)
    pairs = {frozenset(hosts_of_block(campaign, 7, block, layout)) for block in range(20)}
    assert len(pairs) == 6


def _with(hosts: tuple[NamedHost, ...]) -> Campaign:
    from dataclasses import replace  # noqa: PLC0415

    from tests.fake_campaign import fake_campaign  # noqa: PLC0415

    return replace(fake_campaign(), hosts=hosts)


@pytest.mark.parametrize(
    ("text", "hosts", "spread"),
    [
        ("8c1p1i on 4", [0, 0, 1, 1, 2, 2, 3, 3], Spread.PACKED),
        ("8c1p1i on 4 scattered", [0, 1, 2, 3, 0, 1, 2, 3], Spread.SCATTERED),
        ("4c2p4i", [0, 0, 0, 0], Spread.PACKED),
    ],
)
def test_nodes_are_packed_or_scattered(text: str, hosts: list[int], spread: Spread) -> None:
    layout = Layout.parse(text)
    assert (str(layout), layout.spread) == (text, spread)
    assert [layout.host_of(node) for node in range(layout.nodes)] == hosts


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("8c1p1i on 2", "8c1p1i on 3", "cannot have as many nodes on each of 3 hosts"),
        ("8c1p1i on 2", "8c1p1i on 4", "is on 4 hosts, and the campaign has 3 hosts; add [[host]]"),
        ("8c1p1i on 2", "2c65p1i on 2", "needs 65 processors on each host, and its smallest host offers 4"),
        ("8c1p1i on 2", "6c1p3i on 2", "3 instances cannot share 6 nodes"),
        ('address = "node2"', 'address = "root@node1"', "is also the name of another host"),
        ('address = "node2"', 'address = "-oProxyCommand=x"', "host[2].address"),
        ("blocks = 6", 'blocks = 6\nsubnet = "10.1.0.1/16"', "is no whole range; write 10.1.0.0/16"),
        (
            "blocks = 6",
            'blocks = 6\nlimits.memory = "9 GiB"',
            "9 GiB in 8c1p1i on 2 is more than its hosts have",
        ),
        (
            'technology = "bottle"',
            'technology = "ssh"\nhost = ["a", "b"]\nbelow = "lxc"',
            "[[host]] address = 'a'; [[",
        ),
        (
            'technology = "bottle"',
            'technology = "bottle"\nrto_min = "2ms"',
            "rto_min: of bottle is of a route of the node's own",
        ),
    ],
)
def test_a_mistake_is_said_with_its_place(tmp_path: Path, good: str, bad: str, said: str) -> None:
    with pytest.raises(CampaignError) as caught:
        load(tmp_path, CAMPAIGN.replace(good, bad))
    assert said in str(caught.value)


def test_hosts_are_not_reached_by_a_command_that_runs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "campaign.toml"
    path.write_text(CAMPAIGN)
    with pytest.raises(InputError, match="names hosts, which this command does not reach"):
        resolve(str(path), host_processors=1, host_memory_byte=GIBIBYTE)


def test_every_key_of_a_host_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hosts.md").read_text()
    assert [key for key in HostTable.model_fields if f"| `{key}` |" not in page] == []


class TestSlurm:
    """``hosts = "slurm"``."""

    TEXT = CAMPAIGN.replace('[[host]]\naddress = "root@node1"\n\n', "")
    TEXT = TEXT.replace('[[host]]\naddress = "node2"\nbecome = ["sudo", "-n"]\n\n[[host]]\n\n', "")
    TEXT = TEXT.replace("blocks = 6\n", 'blocks = 6\nhosts = "slurm"\n')

    @pytest.fixture(autouse=True)
    def allocated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        own = Allocation(job="7", nodes=("a", "b", "c"), processors={})
        monkeypatch.setattr(slurm, "is_allocated", lambda: True)
        monkeypatch.setattr(slurm, "allocation", lambda: own)

    def test_hosts_are_the_numbers_of_the_jobs_nodes_whatever_their_names(self, tmp_path: Path) -> None:
        campaign = load(tmp_path, self.TEXT)
        hosts = [(host.name, host.slurm, host.address) for host in campaign.hosts]
        assert hosts == [("slurm-1", 0, None), ("slurm-2", 1, None), ("slurm-3", 2, None)]
        assert kept_and_read(campaign) == campaign

    def test_outside_of_a_job_there_are_as_many_as_the_largest_layout_needs(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(slurm, "is_allocated", lambda: False)
        text = self.TEXT.replace('["8c1p1i on 2"]', '["1c1p1i", "8c1p1i on 4", "8c1p1i on 2"]')
        assert len(load(tmp_path, text).hosts) == 4

    def test_what_all_nodes_have_alike_can_be_said(self, tmp_path: Path) -> None:
        table = '{ of = "slurm", state = "/scratch", python = "/opt/python", passes_image_on = false }'
        campaign = load(tmp_path, self.TEXT.replace('"slurm"', table))
        said = {(host.state, host.python, host.passes_image_on) for host in campaign.hosts}
        assert said == {("/scratch", "/opt/python", False)}
        assert kept_and_read(campaign) == campaign

    @pytest.mark.parametrize(
        ("hosts", "said"),
        [
            ('"sge"', "hosts.of: must be 'slurm', 'pbs', 'lsf' or 'flux'"),
            ('{ of = "slurm", address = "x" }', "hosts.address"),
            ('{ of = "slurm", ssh_options = ["-4"] }', "hosts.ssh_options: are for hosts that ssh reaches"),
            ('"slurm"\n[[host]]', "names hosts, and so does hosts; write one of them"),
            ("4", "hosts: must be a table"),
        ],
    )
    def test_what_is_wrong_is_said(self, tmp_path: Path, hosts: str, said: str) -> None:
        with pytest.raises(CampaignError) as caught:
            load(tmp_path, self.TEXT.replace('hosts = "slurm"', f"hosts = {hosts}"))
        assert said in str(caught.value)


def test_hosts_of_a_pbs_job_are_its_nodes_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TestSlurm.TEXT.replace('"slurm"', '{ of = "pbs", ssh_options = ["-p", "2222"] }')
    monkeypatch.delenv("PBS_NODEFILE", raising=False)
    assert len(load(tmp_path, text).hosts) == 2, "outside of a job: what the layout needs"
    (tmp_path / "nodes").write_text("a\nb\nb\nc\n")
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    campaign = load(tmp_path, text)
    assert {host.ssh_options for host in campaign.hosts} == {("-p", "2222")}
    assert [(host.name, host.scheduler, host.number, host.slurm) for host in campaign.hosts] == [
        ("pbs-1", "pbs", 0, None),
        ("pbs-2", "pbs", 1, None),
        ("pbs-3", "pbs", 2, None),
    ]
    assert kept_and_read(campaign) == campaign


def test_a_neighbour_over_hosts_takes_its_memory_on_each_of_them(tmp_path: Path) -> None:
    table = """
[[sharing]]
alone = "2c1p1i on 2"
neighbour = { workload = "count", count = 1 }
"""
    text = CAMPAIGN.replace("8c1p1i on 2", "2c1p1i on 2").replace(
        "blocks = 6", 'blocks = 6\nlimits.memory = "1 GiB"'
    )
    campaign = load(tmp_path, text + table)
    assert [str(setting) for setting in campaign.settings] == ["2c1p1i on 2", "2c1p1i on 2+1xcount"]
    assert {setting.limits.memory_byte for setting in campaign.settings} == {GIBIBYTE // 2}
