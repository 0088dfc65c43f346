# SPDX-License-Identifier: Apache-2.0
"""A node's description survives the way over JSON, whatever it holds, without pydantic."""

import json
from dataclasses import dataclass, field, fields
from enum import Enum, IntEnum
from ipaddress import IPv4Address
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.environments.environment_example import described

from tare.nodes.codec import decode, encode
from tare.nodes.devices import Device
from tare.nodes.provider import Bind, NodeNetwork, NodeSpec
from tare.records import Bounds, NetworkKind, Storage, User

SPECS = [
    described(),
    described(
        options={"a": 1, "b": ["x", "y"], "c": True, "d": 0.5, "e": "text"},
        cpu_quota=0.5,
        binds=(Bind(path=Path("/data"), writable=True), Bind(path=Path("/more"))),
        devices=(Device(path=Path("/dev/dri/renderD128"), major=226, minor=128),),
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
texts = st.text()
paths = st.text(st.characters(exclude_characters="\0"), min_size=1).map(Path)
counts = st.integers(0, 1 << 60)
numbers = st.floats(allow_nan=False, allow_infinity=False)
values = texts | st.integers() | numbers | st.booleans() | st.lists(texts)
FIELDS: dict[str, Any] = {
    "name": texts,
    "technology": texts,
    "options": st.dictionaries(texts, values),
    "directory": paths,
    "image_root": paths,
    "image_digest": texts,
    "processors": st.lists(counts).map(tuple),
    "memory_byte": counts,
    "shm_byte": counts,
    "cpu_quota": st.none() | numbers,
    "binds": st.lists(st.builds(Bind, path=paths, writable=st.booleans())).map(tuple),
    "devices": st.lists(st.builds(Device, path=paths, major=counts, minor=counts)).map(tuple),
    "network": st.builds(
        NodeNetwork,
        kind=st.sampled_from(NetworkKind),
        namespace=st.none() | paths,
        switch=st.none() | paths,
        address=st.none() | texts,
        rto_min_s=st.none() | numbers,
    ),
    "storage": st.sampled_from(Storage),
    "index": counts,
    "shared_work": st.none() | paths,
    "user": st.none() | st.builds(User, uid=counts, gid=counts),
    "bounds": st.builds(Bounds, **dict.fromkeys((item.name for item in fields(Bounds)), st.none() | counts)),
    "weight": counts,
}


class Colour(Enum):
    RED = "red"


class Size(IntEnum):
    LARGE = 1


def record_with(kind: Any) -> type:
    """A record with one field of this kind that is never given, so that no value betrays it."""
    made = type("Made", (), {"__annotations__": {"part": kind | None}, "part": field(default=None)})
    return dataclass(made)


@pytest.mark.parametrize("spec", SPECS, ids=["least", "most"])
def test_what_was_written_is_read_as_it_was(spec: NodeSpec) -> None:
    assert decode(NodeSpec, json.loads(json.dumps(encode(spec)))) == spec


@given(spec=st.builds(NodeSpec, **FIELDS))
def test_any_node_survives_the_way_there_and_back(spec: NodeSpec) -> None:
    back = decode(NodeSpec, json.loads(json.dumps(encode(spec))))
    assert back == spec
    assert repr(back) == repr(spec)  # 1, 1.0 and True are equal


def test_every_field_of_a_node_is_drawn() -> None:
    """One that is not would have its default each time."""
    assert set(FIELDS) == {item.name for item in fields(NodeSpec)}


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        {},
        {"name": "tare-1"},
        {"unknown": 1},
        {**encode(SPECS[0]), "unknown": 1},
        {**encode(SPECS[0]), "processors": None},
        {**encode(SPECS[0]), "processors": ["0"]},
        {**encode(SPECS[0]), "memory_byte": True},
        {**encode(SPECS[0]), "storage": "tape"},
        {**encode(SPECS[0]), "binds": [{"place": "/data"}]},
        {**encode(SPECS[0]), "options": {"a": {}}},
    ],
)
def test_what_is_no_node_is_an_error(plain: object) -> None:
    with pytest.raises(ValueError, match=r"is no |is not a valid|unknown or missing"):
        decode(NodeSpec, plain)


@pytest.mark.parametrize(
    "kind",
    [
        bytes,
        set[int],
        dict[str, int],
        tuple[int, int],
        IPv4Address,
        PurePosixPath,
        Colour,
        Size,
        complex,
        list[bytes],
        Path | str,
        list[int] | tuple[int, ...],
    ],
    ids=str,
)
def test_a_field_that_could_not_be_read_back_is_refused_both_ways_before_it_has_a_value(kind: Any) -> None:
    made = record_with(kind)
    with pytest.raises(TypeError, match=r"cannot be read back from JSON|JSON does not tell"):
        encode(made())
    with pytest.raises(TypeError, match=r"cannot be read back from JSON|JSON does not tell"):
        decode(made, {})


@pytest.mark.parametrize(
    "kind", [str, int, float, int | float, float | int, Path, list[str], tuple[Path, ...]]
)
def test_a_field_that_can_be_read_back_is_taken(kind: Any) -> None:
    made = record_with(kind)
    assert decode(made, encode(made())) == made()
