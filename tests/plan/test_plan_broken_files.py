# SPDX-License-Identifier: Apache-2.0
"""Whatever a campaign file holds, the user gets a campaign or one error that names the file."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tare.errors import CampaignError
from tare.plan.campaign import Campaign, preset_names
from tare.plan.source import preset_path
from tare.plan.trials import plan_trials
from tests.plan.plan_example import GOOD, kept_and_read, load

VALUES = [
    "nan", "-inf", "inf", "1e999", "-1", "0", "1.5", "true", "false", "[]", "{}", "[[]]", '""', '"\\u0000"',
    '"\\u001b[2J"', '"\\ud800"', "'''x\ny'''", "1979-05-27T07:32:00Z", "07:32:00", "0x" + "f" * 5000, "9" * 5000,
    "9" * 30, "[" * 2000, "[" * 200 + "]" * 200, "{a=" * 150 + "1" + "}" * 150, "[1, 'a', {}]", '"' + "x" * 5000 + '"',
    "a." * 300, "= =", "\x00", "\x1b[2J", "\ufeff", "\u202e", '"1c99999999999999999999p1i"', '"1e5GiB"', '"٣m"',
]  # fmt: skip
KEYS = [
    "",
    " ",
    "nmae",
    "name",
    "technology",
    "kind",
    '"\\u0007"',
    "a.b.c",
    "environment",
    "[limits]",
    "é",
    "1",
    '""',
]

Mutation = Callable[[random.Random, str], str]


def replace_value(source: random.Random, text: str) -> str:
    place = source.choice(list(re.finditer(r"(?m)(?<== )[^\n]*$", text)))
    return text[: place.start()] + source.choice(VALUES) + text[place.end() :]


def replace_key(source: random.Random, text: str) -> str:
    place = source.choice(list(re.finditer(r"\w*(?= =)", text)))
    return text[: place.start()] + source.choice(KEYS) + text[place.end() :]


def misspell_key(source: random.Random, text: str) -> str:
    place = source.choice(list(re.finditer(r"\w*(?= =)|(?<=\[)\w+(?=\])", text)))
    letters = list(place[0])
    letters.insert(source.randrange(len(letters) + 1), source.choice("aq_7"))
    return text[: place.start()] + "".join(letters) + text[place.end() :]


def delete_lines(source: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    start = source.randrange(len(lines))
    return "".join(lines[:start] + lines[start + source.randint(1, 4) :])


def move_lines(source: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    start, target = source.randrange(len(lines)), source.randrange(len(lines))
    lines[target:target] = lines[start : start + source.randint(1, 3)]
    return "".join(lines)


def delete_characters(source: random.Random, text: str) -> str:
    start = source.randrange(len(text))
    return text[:start] + text[start + source.randint(1, 30) :]


def insert_characters(source: random.Random, text: str) -> str:
    start = source.randrange(len(text))
    inserted = "".join(
        chr(source.choice([source.randrange(128), source.randrange(0xD800)])) for _ in range(5)
    )
    return text[:start] + inserted + text[start:]


MUTATIONS: list[Mutation] = [
    replace_value,
    replace_key,
    misspell_key,
    delete_lines,
    move_lines,
    delete_characters,
    insert_characters,
]


def mutated(seed: int, steps: list[int], text: str) -> bytes:
    source = random.Random(seed)  # noqa: S311 - mutations that can be repeated
    for step in steps:
        changed = MUTATIONS[step](source, text)
        text = changed if " = " in changed else text
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    if source.random() < 0.2:
        content[source.randrange(len(content))] = source.randrange(256)
    return bytes(content)


def campaign_or_error(path: Path) -> Campaign | None:
    try:
        return load(path)
    except CampaignError as error:
        text = str(error)
    assert all(line.startswith(str(path)) for line in text.split("\n"))
    assert all(part.isprintable() for part in text.replace("\n", ""))
    assert len(text) < 40_000
    return None


FIXTURE_IS_FINE = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TEXTS = st.sampled_from([GOOD, *(preset_path(name).read_text() for name in preset_names())])


@FIXTURE_IS_FINE
@given(st.integers(0, 2**32), st.lists(st.integers(0, len(MUTATIONS) - 1), min_size=1, max_size=4), TEXTS)
def test_a_mutated_file_is_a_campaign_or_one_clear_error(
    tmp_path: Path, seed: int, steps: list[int], text: str
) -> None:
    path = tmp_path / "mutated.toml"
    path.write_bytes(mutated(seed, steps, text))
    campaign = campaign_or_error(path)
    if campaign:
        assert kept_and_read(campaign) == campaign
        identities = [trial.identity for trial in plan_trials(campaign, seed)]
        assert len(set(identities)) == len(identities)


@FIXTURE_IS_FINE
@given(st.binary(max_size=300))
def test_random_bytes_are_one_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "random.toml"
    path.write_bytes(content)
    assert campaign_or_error(path) is None


@FIXTURE_IS_FINE
@given(st.integers(0, 2**32))
def test_a_misspelt_key_is_always_an_error(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "misspelt.toml"
    path.write_text(misspell_key(random.Random(seed), GOOD))  # noqa: S311 - can be repeated
    assert campaign_or_error(path) is None


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "key", ["name", "seed", "blocks", "layouts", "memory", "technology", "stoppers", "steps"]
)
def test_a_hostile_value_is_one_clear_error(tmp_path: Path, key: str, value: str) -> None:
    text, count = re.subn(rf"(?m)^{key} = .*$", lambda _: f"{key} = {value}", GOOD, count=1)
    assert count == 1
    path = tmp_path / "hostile.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    campaign = campaign_or_error(path)
    if key in {"layouts", "memory", "technology"}:
        assert campaign is None
