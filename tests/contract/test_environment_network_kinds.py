# SPDX-License-Identifier: Apache-2.0
"""Each environment lists its kinds of network, and a campaign that asks for another is refused with words."""

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from tests.conftest import REPOSITORY

from tare.environments import PROVIDERS
from tare.errors import CampaignError, NodeError
from tare.measure.context import network_kind
from tare.nodes.provider import LINKED_NETWORKS, MADE_NETWORKS, Provider
from tare.plan.campaign import load_campaign
from tare.records import Environment, Layout, Limits, NetworkKind, Trial, Workload

GIBIBYTE = 1 << 30
TRIAL = Trial(
    identity="any",
    block=0,
    slot=0,
    environment=Environment(name="any", technology="fake"),
    replicate=0,
    layout=Layout(nodes=1, processors=1, instances=1),
    workload=Workload(name="any", kind="fake"),
    limits=Limits(memory_byte=GIBIBYTE, shm_byte=GIBIBYTE, time_s=60.0),
)


def refusal(tmp_path: Path, technology: str, kind: NetworkKind) -> str:
    """What is said of the network of such an environment; empty: nothing."""
    path = tmp_path / "campaign.toml"
    path.write_text(f'[[environment]]\ntechnology = "{technology}"\nnetwork = "{kind}"\n')
    try:
        load_campaign(path, host_processors=4, host_memory_byte=8 * GIBIBYTE)
    except CampaignError as error:
        return "\n".join(re.findall(r"^.*has no network.*$", str(error), re.MULTILINE))
    return ""


@pytest.mark.parametrize("kind", NetworkKind)
@pytest.mark.parametrize("technology", PROVIDERS)
def test_a_kind_that_is_not_listed_is_refused_with_words(
    tmp_path: Path, technology: str, kind: NetworkKind
) -> None:
    said = refusal(tmp_path, technology, kind)
    if kind in PROVIDERS[technology].networks:
        assert said == ""
    else:
        assert f"{technology} has no network {kind}; it has " in said


@pytest.mark.parametrize("kind", ["wormhole", *NetworkKind])
@pytest.mark.parametrize("technology", PROVIDERS)
def test_no_node_is_given_a_kind_that_is_not_listed(technology: str, kind: str) -> None:
    """Nor one that comes later: a campaign that was kept may ask for what its technology no longer has."""
    provider = PROVIDERS[technology]
    environment = Environment(name="any", technology=technology, network=cast("NetworkKind", kind))
    asked = replace(TRIAL, environment=environment)
    if kind in provider.networks:
        assert network_kind(asked, provider) == kind
    else:
        with pytest.raises(NodeError, match=f"{technology} has no network {kind}; it has "):
            network_kind(asked, provider)


@pytest.mark.parametrize(
    ("technology", "layout", "kind"),
    [
        ("native", "2c1p1i on 2", NetworkKind.HOST),
        ("native", "1c1p1i", NetworkKind.HOST),
        ("chroot", "2c1p1i on 2", NetworkKind.HOST),
        ("chroot", "1c1p1i", NetworkKind.NONE),
    ],
)
def test_over_hosts_nodes_have_their_hosts_network_unless_a_campaign_says_otherwise(
    technology: str, layout: str, kind: NetworkKind
) -> None:
    environment = Environment(name="any", technology=technology)
    over = replace(TRIAL, environment=environment, layout=Layout.parse(layout), hosts=("a", "b"))
    assert network_kind(over, PROVIDERS[technology]) is kind


def test_a_network_of_hosts_without_hosts_is_refused_where_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "campaign.toml"
    written = ('name = "w"', 'networks = ["veth", "vxlan"]', "[[environment]]", 'technology = "chroot"')
    path.write_text("\n".join([*written, "[[workload]]", 'name = "compute"']))
    with pytest.raises(CampaignError, match=r"of chroot-vxlan is vxlan, which joins hosts: add \[\[host\]\]"):
        load_campaign(path, host_processors=4, host_memory_byte=8 * GIBIBYTE)


@pytest.mark.parametrize("technology", PROVIDERS)
def test_every_provider_lists_kinds_that_there_are(technology: str) -> None:
    networks = PROVIDERS[technology].networks
    assert networks
    assert networks <= frozenset(NetworkKind)


def test_nothing_is_given_to_whoever_lists_nothing() -> None:
    assert not hasattr(Provider, "networks")
    linked = {
        *(NetworkKind.VETH, NetworkKind.MACVLAN, NetworkKind.IPVLAN),
        *(NetworkKind.VXLAN, NetworkKind.SRIOV),
    }
    assert linked == LINKED_NETWORKS
    assert linked | {NetworkKind.NONE} == MADE_NETWORKS


def test_no_provider_takes_every_kind_that_there_may_be() -> None:
    """A kind that comes later is then not had until somebody has seen to it."""
    every = [
        str(path.relative_to(REPOSITORY))
        for path in sorted((REPOSITORY / "src").rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call) == "frozenset(NetworkKind)"
    ]
    assert every == []
