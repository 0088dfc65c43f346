# SPDX-License-Identifier: Apache-2.0
"""A node's description survives the way over JSON, without pydantic."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.nodes.codec import build
from tare.nodes.provider import Bind, NodeNetwork, NodeSpec
from tare.records import NetworkKind, Storage

SPECS = [
    described(),
    described(
        options={"a": 1, "b": ["x", "y"], "c": True, "d": 0.5, "e": "text"},
        cpu_quota=0.5,
        binds=(Bind(path=Path("/data"), writable=True), Bind(path=Path("/more"))),
        network=NodeNetwork(
            kind=NetworkKind.VETH,
            namespace=Path("/n"),
            switch=Path("/s"),
            address="198.18.0.10",
            rto_min_s=0.002,
        ),
        storage=Storage.DISK,
        shared_work=Path("/other/layer/work"),
    ),
]


@pytest.mark.parametrize("spec", SPECS, ids=["least", "most"])
def test_what_was_written_is_read_as_it_was(spec: NodeSpec) -> None:
    assert build(NodeSpec, json.loads(json.dumps(asdict(spec), default=str))) == spec


@pytest.mark.parametrize("plain", [None, [], {}, {"name": "tare-1"}, {"unknown": 1}])
def test_what_is_no_node_is_an_error(plain: object) -> None:
    with pytest.raises((TypeError, ValueError, KeyError, AttributeError)):
        build(NodeSpec, plain)
