# SPDX-License-Identifier: Apache-2.0
"""What carried the messages between each two hosts, from Open MPI's own report."""

from ipaddress import IPv4Network

from hypothesis import given
from hypothesis import strategies as st
from tests.workloads.recorded import OUTPUTS

from tare.network import WIRE_SUBNET
from tare.records import DIFFERENT_PATHS
from tare.workloads.mpi_paths import MpiPlace, paths, said

NETWORKS = (IPv4Network("198.18.0.0/15"), IPv4Network("198.18.96.0/24"), IPv4Network("198.18.97.0/24"))
FOUR = [MpiPlace(f"node{number}", f"h{1 + number // 2}") for number in range(4)]


def recorded(name: str) -> str:
    return (OUTPUTS / "mpi" / name).read_text()


def report(pairs: dict[tuple[int, int], str], ranks: int) -> str:
    """As by Open MPI 4.1 in nodes with names of their own; a pair's address is the receiver's, or none: in memory."""
    lines = [
        f"[n{rank}:1] mca: bml: Using self btl for send to [[9,1],{rank}] on node n{rank}"
        for rank in range(ranks)
    ]
    for (sender, receiver), address in pairs.items():
        name = "tcp" if address else "vader"
        lines.append(
            f"[n{sender}:1] mca: bml: Using {name} btl for send to [[9,1],{receiver}] on node n{receiver}"
        )
        if address:
            lines.append(f"[n{sender}:1] btl:tcp: now connected to {address}, process [[9,1],{receiver}]")
    return "\n".join(lines)


def test_each_pair_of_hosts_has_its_transport_over_the_smallest_network() -> None:
    carried = paths(recorded("four-nodes-on-two-hosts.stderr"), FOUR, NETWORKS)
    tcp = "TCP over 198.18.96.0/24"
    assert carried == {("between nodes of a host",): tcp, ("h1", "h2"): tcp}
    assert said(carried) == {"mpi paths": f"between nodes of a host: {tcp}; between hosts: {tcp}"}


def test_processes_of_one_node_share_memory() -> None:
    two = [MpiPlace("a", "h1"), MpiPlace("b", "h2")]
    carried = paths(recorded("two-nodes-of-two.stderr"), two, ())
    assert carried["within a node",] == "shared memory"
    assert carried["h1", "h2"].startswith("TCP over 198.18.0.1")


def test_a_host_over_another_network_is_named() -> None:
    hosts = [MpiPlace(f"n{number}", f"h{number}") for number in range(4)]
    pairs = {
        (sender, receiver): f"198.18.{97 if {sender, receiver} == {1, 2} else 96}.{receiver}"
        for sender in range(4)
        for receiver in range(4)
        if sender != receiver
    }
    facts = said(paths(report(pairs, 4), hosts, NETWORKS))
    odd = "h1-h2: TCP over 198.18.97.0/24"
    assert facts["mpi paths"] == f"between hosts: TCP over 198.18.96.0/24; {odd}"
    assert facts[DIFFERENT_PATHS] == f"{odd}, where most use TCP over 198.18.96.0/24"


def test_nodes_with_addresses_of_their_own_on_the_wire_are_on_one_network() -> None:
    hosts = [MpiPlace(f"n{number}", f"h{number}") for number in range(4)]
    every = [(sender, receiver) for sender in range(4) for receiver in range(4) if sender != receiver]
    pairs = {pair: f"198.19.7.{pair[1]}" for pair in every}
    facts = said(paths(report(pairs, 4), hosts, (*NETWORKS, WIRE_SUBNET)))
    assert facts == {"mpi paths": "between hosts: TCP over 198.19.0.0/16"}


def test_processes_of_one_name_are_told_apart_by_their_host_alone() -> None:
    """Two nodes of one host with the host's name and process ids of their own: shared memory is within a node."""
    text = "\n".join(
        f"[h1:7] mca: bml: Using {name} btl for send to [[9,1],{peer}] on node h1"
        for name, peer in (("self", 0), ("self", 1), ("self", 2), ("self", 3), ("vader", 1), ("tcp", 2))
    )
    same = [MpiPlace("a", "h1"), MpiPlace("b", "h1")]
    assert paths(text, same, ()) == {("between nodes of a host",): "TCP", ("within a node",): "shared memory"}
    assert paths(text, [MpiPlace("a", "h1"), MpiPlace("b", "h2")], ()) == {}  # who sent it is not known


def test_nothing_is_made_of_other_text_or_of_processes_that_do_not_fit() -> None:
    assert said(paths("no report\n", FOUR, NETWORKS)) == {}
    assert paths(report({(0, 1): ""}, 3), FOUR, NETWORKS) == {}


@given(st.integers(2, 6), st.data())
def test_every_pair_of_hosts_that_talked_is_in_the_facts(hosts: int, data: st.DataObject) -> None:
    every = [(sender, receiver) for sender in range(hosts) for receiver in range(hosts) if sender != receiver]
    chosen = data.draw(st.lists(st.sampled_from(every), unique=True))
    networks = {pair: data.draw(st.sampled_from((96, 97))) for pair in chosen}
    pairs = {pair: f"198.18.{third}.{pair[1]}" for pair, third in networks.items()}
    places = [MpiPlace(f"n{number}", f"h{number}") for number in range(hosts)]
    carried = paths(report(pairs, hosts), places, NETWORKS)
    assert set(carried) == {tuple(sorted((f"h{sender}", f"h{receiver}"))) for sender, receiver in chosen}
    assert (DIFFERENT_PATHS in said(carried)) == (len(set(carried.values())) > 1)
