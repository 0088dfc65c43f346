# SPDX-License-Identifier: Apache-2.0
"""What ``--needs`` takes."""

from pathlib import Path

import pytest

from tare.commands.needs import parse_needs
from tare.errors import InputError
from tare.records.advice import Need, Required, Resource


@pytest.mark.parametrize(
    ("text", "resource", "rate"),
    [
        ("messages 1000/s", Resource.MESSAGES, 1000.0),
        ("messages 1000", Resource.MESSAGES, 1000.0),
        ("message bytes 10 MB/s", Resource.MESSAGE_BYTES, 1e7),
        ("file bytes 1.5GB/s", Resource.FILE_BYTES, 1.5e9),
        ("page faults 2k/s", Resource.FAULTS, 2000.0),
        ("system_calls 1e6/s", Resource.CALLS, 1e6),
        ("context switches 0/s", Resource.SWITCHES, 0.0),
        ("time in the kernel 20 %", Resource.KERNEL, 0.2),
        ("computing 95%", Resource.COMPUTING, 0.95),
        ("memory-bound", Resource.MEMORY, 1.0),
        ("compute bound", Resource.MEMORY, 0.0),
    ],
)
def test_a_resource_has_its_rate(text: str, resource: Resource, rate: float) -> None:
    assert parse_needs((text,)).rates == {resource: pytest.approx(rate)}


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ("no root", Required(need=Need.NO_ROOT)),
        ("no-daemon", Required(need=Need.NO_DAEMON)),
        ("Own kernel", Required(need=Need.OWN_KERNEL)),
        ("isolation sandbox", Required(need=Need.ISOLATION, value="sandbox")),
        ("live migration", Required(need=Need.LIVE_MIGRATION)),
        ("image sif", Required(need=Need.IMAGE, value="sif")),
        ("gpu", Required(need=Need.GPU)),
    ],
)
def test_a_requirement_is_one(text: str, required: Required) -> None:
    assert parse_needs((text,)).required == (required,)


def test_items_stand_between_commas_or_in_several_texts_and_the_last_counts() -> None:
    needs = parse_needs(("messages 5/s, no root,", "messages 7/s, no root"))
    assert needs.rates == {Resource.MESSAGES: 7.0}
    assert needs.required == (Required(need=Need.NO_ROOT),)


@pytest.mark.parametrize(
    "text",
    [
        *("messages", "messages many/s", "messages 1.2.3/s", "messages -1/s", "computing 120 %"),
        *("computing 5/s", "time in the kernel 20", "image tape", "isolation", "isolation strong"),
        *("no roots", "gpu 2", "messages 1e999/s"),
    ],
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"--needs: .*write such as"):
        parse_needs((text,))


def test_a_file_holds_the_same_items(tmp_path: Path) -> None:
    path = tmp_path / "needs.toml"
    path.write_text(
        'messages = "1000/s"\n"page faults" = 20\nmemory-bound = true\nno-root = true\ngpu = false\n'
    )
    needs = parse_needs((str(path),))
    assert needs.rates == {Resource.MESSAGES: 1000.0, Resource.FAULTS: 20.0, Resource.MEMORY: 1.0}
    assert needs.required == (Required(need=Need.NO_ROOT),)


@pytest.mark.parametrize("text", ["messages = ", "messages = [1]", "[messages]\nmany = 1"])
def test_a_broken_file_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "needs.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"needs\.toml"):
        parse_needs((str(path),))


def test_a_missing_file_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match=r"absent\.toml cannot be read"):
        parse_needs(("absent.toml",))
