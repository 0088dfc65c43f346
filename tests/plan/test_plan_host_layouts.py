# SPDX-License-Identifier: Apache-2.0
"""Layouts that fit any list of hosts, the factor ``hosts``, and the hosts that a command line names."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.environments import PROVIDERS as ALL
from tare.errors import TareError
from tare.plan.campaign import Campaign, resolve
from tare.plan.entries import FAR
from tare.plan.marks import NotWholeError, filled, has_mark
from tare.plan.schema import Host
from tare.records import Layout, NamedHost
from tests.plan.plan_example import KINDS, PROVIDERS, kept_and_read

GIBIBYTE = 1 << 30
CAMPAIGN = """\
name = "wire"
blocks = 6
oversubscribe = 2
layouts = ["{all}c1p1i", "{hosts}c{processors}p1i", "1c1p1i on 1"]

[[environment]]
technology = "bottle"

[[workload]]
name = "count"

[[factor]]
key = "hosts"
levels = [1, 2, 4]
"""


def load(folder: Path, text: str = CAMPAIGN, asked: str | None = "a,b,c,d", processors: int = 2) -> Campaign:
    path = folder / "campaign.toml"
    path.write_text(text)

    def sizes(hosts: Sequence[NamedHost]) -> Mapping[str, Host]:
        return {host.name: Host(processors, 4 * GIBIBYTE) for host in hosts}

    return resolve(
        str(path),
        host_processors=1,
        host_memory_byte=GIBIBYTE,
        providers={**PROVIDERS, FAR: ALL[FAR]},
        kinds=KINDS,
        sizes=sizes,
        asked_hosts=asked,
    )


@given(st.integers(1, 64), st.integers(1, 64))
def test_marks_are_numbers_of_the_list(hosts: int, processors: int) -> None:
    known = {"hosts": hosts, "all": hosts, "processors": processors}
    layout = Layout.parse(filled("{hosts*processors}c1p{hosts}i on {hosts}", known))
    assert (layout.nodes, layout.instances, layout.hosts) == (hosts * processors, hosts, hosts)
    power = int(filled("{power of processors}", known))
    assert power <= processors < 2 * power
    assert power.bit_count() == 1


def test_a_mark_without_its_number_stays_one() -> None:
    text = filled("{hosts*processors}c1p1i on {hosts}", {"processors": 3})
    assert text == "{hosts*3}c1p1i on {hosts}"
    assert has_mark(text, "hosts")
    assert filled(text, {"hosts": 2}) == "6c1p1i on 2"


def test_a_number_that_is_not_whole_is_none() -> None:
    with pytest.raises(NotWholeError, match=r"\{processors/2\} is 3/2, no whole number"):
        filled("{processors/2}c1p1i", {"processors": 3})


def test_the_same_nodes_and_as_many_per_host_are_spread_over_each_number_of_hosts(tmp_path: Path) -> None:
    campaign = load(tmp_path)
    assert [str(layout) for layout in campaign.layouts] == [
        *("4c1p1i", "4c1p1i on 2", "4c1p1i on 4", "1c2p1i", "2c2p1i on 2", "4c2p1i on 4", "1c1p1i"),
    ]
    by_setting = {cells.setting: cells for cells in campaign.factor_cells}
    assert {setting: [level.number for level in cells.levels] for setting, cells in by_setting.items()} == {
        "4c1p1i": [1, 2, 4],
        "{hosts}c2p1i": [1, 2, 4],
    }
    assert [cell.layout for (cell,) in by_setting["4c1p1i"].cells] == ["4c1p1i", "4c1p1i on 2", "4c1p1i on 4"]
    assert kept_and_read(campaign) == campaign


def test_the_levels_of_hosts_run_all_blocks_as_they_are_compared(tmp_path: Path) -> None:
    campaign = load(tmp_path)
    assert {cell.layout for cell in campaign.design.whole} == {str(layout) for layout in campaign.layouts}


@pytest.mark.parametrize(
    ("processors", "levels"), [(1, ["2", "4"]), (2, ["1", "2", "4"]), (16, ["1", "2", "4"])]
)
def test_doubling_leaves_out_what_would_share_processors_too_much(
    tmp_path: Path, processors: int, levels: list[str]
) -> None:
    campaign = load(tmp_path, CAMPAIGN.replace("[1, 2, 4]", '"doubling"'), processors=processors)
    assert [level.text for level in campaign.factors[0].levels] == levels


def test_a_workload_names_layouts_by_the_same_marks(tmp_path: Path) -> None:
    text = CAMPAIGN.replace('name = "count"', 'name = "count"\nlayouts = ["{all}c1p1i", "1c1p1i on 1"]')
    (workload,) = load(tmp_path, text).workloads
    assert workload.layouts == ("4c1p1i", "4c1p1i on 2", "4c1p1i on 4", "1c1p1i")


def test_without_the_factor_layouts_are_on_all_hosts_and_fractions_are_left_out(tmp_path: Path) -> None:
    text = CAMPAIGN.split("[[factor]]", maxsplit=1)[0].replace(
        "{all}c1p1i", "{hosts}c{processors/2}p1i on {hosts}"
    )
    campaign = load(
        tmp_path, text.replace("{hosts}c{processors}p1i", "{hosts}c1p1i on {hosts}"), processors=3
    )
    assert [str(layout) for layout in campaign.layouts] == ["4c1p1i on 4", "1c1p1i"]


@pytest.mark.parametrize(
    ("good", "bad", "asked", "said"),
    [
        ("", "", None, "campaign.toml:12: factor[1]: needs hosts: name them by --hosts host1,host2"),
        ("{all}c", "{al}c", "a,b,c,d", "layouts[1]: {al} is no number of a layout; write {hosts}, {all}"),
        ("[1, 2, 4]", "[1, 3]", "a,b,c,d", "cannot have as many nodes on each of 3 hosts"),
        ("[1, 2, 4]", "[1, 8]", "a,b,c,d", "is on 8 hosts, and the campaign has 4 hosts"),
        ("[1, 2, 4]", '"halving"', "a,b,c,d", 'must be "doubling", or 2 to 30 numbers of hosts'),
        ("[1, 2, 4]", '"doubling"', "a", "the layouts fit on 1 of the hosts alone"),
        ('"{all}c1p1i", "{hosts}c{processors}p1i", ', "", "a,b,c,d", "vary nothing"),
        ("[1, 2, 4]", "[1, 2]\nlevel = 1", "a,b,c,d", "factor[1].level: unknown key"),
        ("", "", "a,-oProxyCommand=x", "--hosts: host[2].address: "),
        ("", "", "a,a", "--hosts: host[2].name: 'a' is also the name of another host"),
        ("", "", "./none.toml", "there is no such file"),
    ],
)
def test_a_mistake_is_said(tmp_path: Path, good: str, bad: str, asked: str | None, said: str) -> None:
    with pytest.raises(TareError) as caught:
        load(tmp_path, CAMPAIGN.replace(good, bad) if good else CAMPAIGN, asked)
    assert said in str(caught.value)


def test_the_command_lines_hosts_take_the_place_of_the_files_own(tmp_path: Path) -> None:
    text = CAMPAIGN + '\n[[host]]\naddress = "old"\n'
    assert [host.name for host in load(tmp_path, text, "root@a,b,c,here").hosts] == ["a", "b", "c", "here"]


def test_a_file_of_hosts_says_how_each_is_reached(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.toml"
    tables = [f'[[host]]\naddress = "{name}"\nstate = "/s/{name}"\n' for name in "abcd"]
    hosts.write_text('subnet = "10.1.0.0/16"\n' + "\n".join(tables))
    campaign = load(tmp_path, asked=str(hosts))
    assert ([host.state for host in campaign.hosts], campaign.subnet) == (
        ["/s/a", "/s/b", "/s/c", "/s/d"],
        "10.1.0.0/16",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("blocks = 3", "hosts.toml:1: blocks: is not of hosts"),
        ("[[host]]\nadress = 'a'", "hosts.toml:2: host[1].adress"),
    ],
)
def test_a_mistake_in_a_file_of_hosts_has_its_place_there(tmp_path: Path, text: str, said: str) -> None:
    hosts = tmp_path / "hosts.toml"
    hosts.write_text(text)
    with pytest.raises(TareError) as caught:
        load(tmp_path, asked=str(hosts))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("hosts", "processors", "layouts"),
    [
        (4, 16, ["4c1p1i", "4c1p1i on 2", "4c1p1i on 4"]),
        (6, 2, ["4c1p1i", "4c1p1i on 2", "4c1p1i on 4"]),
        (8, 1, ["8c1p1i on 2", "8c1p1i on 4", "8c1p1i on 8"]),
    ],
)
def test_the_same_containers_are_on_fewer_and_fewer_hosts(
    tmp_path: Path, hosts: int, processors: int, layouts: list[str]
) -> None:
    asked = ",".join(f"h{number}" for number in range(hosts))
    text = CAMPAIGN.replace('"{all}c1p1i", "{hosts}c{processors}p1i", "1c1p1i on 1"', '"{power of all}c1p1i"')
    text = text.replace("[1, 2, 4]", '"doubling"').replace("oversubscribe = 2", "oversubscribe = 4")
    campaign = load(tmp_path, text, asked=asked, processors=processors)
    assert [str(layout) for layout in campaign.layouts] == layouts
