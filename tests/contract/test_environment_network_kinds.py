# SPDX-License-Identifier: Apache-2.0
"""Each environment lists its kinds of network, and a campaign that asks for another is refused with words."""

import ast
import re
from pathlib import Path

import pytest
from tests.conftest import REPOSITORY

from tare.environments import PROVIDERS
from tare.errors import CampaignError
from tare.nodes.provider import MADE_NETWORKS, Provider
from tare.plan.campaign import load_campaign
from tare.records import NetworkKind

GIBIBYTE = 1 << 30


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


@pytest.mark.parametrize("technology", PROVIDERS)
def test_every_provider_lists_kinds_that_there_are(technology: str) -> None:
    networks = PROVIDERS[technology].networks
    assert networks
    assert networks <= frozenset(NetworkKind)


def test_nothing_is_given_to_whoever_lists_nothing() -> None:
    assert not hasattr(Provider, "networks")
    assert {NetworkKind.NONE, NetworkKind.VETH, NetworkKind.MACVLAN} == MADE_NETWORKS


def test_no_provider_takes_every_kind_that_there_may_be() -> None:
    """A kind that comes later is then not had until somebody has seen to it."""
    every = [
        str(path.relative_to(REPOSITORY))
        for path in sorted((REPOSITORY / "src").rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call) == "frozenset(NetworkKind)"
    ]
    assert every == []
