# SPDX-License-Identifier: Apache-2.0
"""Curves, factors, sharing and order experiments in the explorer: as in the report, drawn when asked for."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tare.drawing.artist import Artist, Specification
from tare.pipeline import analyse_result
from tare.report.document import render_report
from tare.serve import parts
from tests.serve.serve_example import Client, make_parts, make_result, result_named, serving

NAMES = tuple(parts.PARTS)
MARK = r"<i>(\w+ [0-9a-f]{64})</i>"


class Marker(Artist):
    """In the place of each picture leaves what it would show, as a digest."""

    drawn = 0

    def picture(self, chart: Specification, title: str, description: str, classes: str) -> str:
        Marker.drawn += 1
        whole = json.dumps([chart, title, description], sort_keys=True)
        return f"<i>{classes} {sha256(whole.encode()).hexdigest()}</i>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    make_parts(folder / "parts")
    make_result(folder / "plain")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with pytest.MonkeyPatch.context() as patch, serving(folder) as client:
        patch.setattr("tare.serve.parts.Artist", Marker)
        yield client.enters()


@pytest.fixture(scope="module")
def own(client: Client) -> str:
    address = result_named(client, "parts")
    client.read(address)
    return address


def marks(text: str) -> set[str]:
    return set(re.findall(MARK, text))


def test_each_part_has_the_reports_words_and_pictures(client: Client, own: str, folder: Path) -> None:
    report = render_report(analyse_result(folder / "parts"), Marker)
    texts = {name: client.get(f"{own}/{name}").text for name in NAMES}
    assert {name: len(marks(text)) for name, text in texts.items()} == {
        "curves": 8,
        "factors": 4,
        "sharing": 2,
        "order": 0,
    }
    for text in texts.values():
        assert marks(text) <= marks(report)
    for name in ("factors", "sharing", "order"):
        (heading,) = re.findall(rf'<h2 id="{name}">([^<]+)</h2>', texts[name])
        section = texts[name].partition(heading)[2].partition("</section>")[0]
        assert len(section) > 1000
        assert section in report


def test_a_results_page_names_its_parts_and_draws_none(client: Client, own: str) -> None:
    before = Marker.drawn
    for query in ("", "?environment=arm1", "?parts=curves.sharing", "?metric=%2A&parts=order"):
        text = client.get(f"{own}{query}").text
        assert re.findall(r'<section class="part[^"]*" id="part-(\w+)"', text) == list(NAMES)
        assert marks(text) == set()
    assert Marker.drawn == before
    assert 'class="part' not in client.read(result_named(client, "plain")).text


def test_a_part_is_drawn_once_for_each_choice_of_what_it_holds(client: Client, own: str) -> None:
    first = client.get(f"{own}/sharing?environment=arm0").text
    before = Marker.drawn
    for query in (
        "environment=arm0",
        "environment=arm0&metric=%2A",
        "environment=arm0&block=2&parts=sharing",
    ):
        assert marks(client.get(f"{own}/sharing?{query}").text) == marks(first)
    assert Marker.drawn == before
    assert marks(client.get(f"{own}/sharing?environment=arm1").text) != marks(first)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_leaves_in_what_the_filters_leave_in(client: Client, own: str, name: str) -> None:
    """Native stays beside the environment."""
    text = client.get(f"{own}/{name}?environment=arm1").text.partition('id="drawn"')[2]
    assert "arm1" in text
    assert "arm0" not in text
    nothing = client.get(f"{own}/{name}?layout=nosuch").text
    assert "These filters leave none of it" in nothing
    assert marks(nothing) == set()
    assert client.get(f"{own}?layout=nosuch").text.count("these filters leave none of it") == len(NAMES)


def test_what_is_open_is_in_the_address_with_the_filters(client: Client, own: str) -> None:
    text = client.get(f"{own}?environment=arm1&parts=sharing").text
    assert re.findall(r'data-load="([^"]+)"', text) == [f"{own}/sharing?environment=arm1"]
    toggles = dict(re.findall(r'href="([^"]+)" id="toggle-(\w+)"', text))
    assert {name: address.replace("&amp;", "&") for address, name in toggles.items()} == {
        "curves": "?environment=arm1&parts=sharing.curves#part-curves",
        "factors": "?environment=arm1&parts=sharing.factors#part-factors",
        "sharing": "?environment=arm1#part-sharing",
        "order": "?environment=arm1&parts=sharing.order#part-order",
    }
    assert '<input type="hidden" name="parts" value="sharing">' in text
    back = re.findall(r'href="([^"]+)" id="part-back"', client.get(f"{own}/order?layout=1c1p1i").text)
    assert back == [f"{own}?layout=1c1p1i#part-order"]


def test_filters_offer_what_the_parts_alone_have(client: Client, own: str) -> None:
    text = client.get(own).text
    for value in ("aged", "1c2p2i[storage=tmpfs]", "arm0"):
        assert f'<option value="{value}">' in text


def test_many_pictures_come_in_pages(client: Client, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tare.serve.parts.PICTURES", 1)
    first, second = (client.get(f"{own}/curves?workload=work&rows={page}").text for page in (1, 2))
    assert f'href="{own}/curves?workload=work&amp;rows=2"' in first
    assert len(marks(first)) == len(marks(second)) == 2
    assert not marks(first) & marks(second)
    before = Marker.drawn
    monkeypatch.setattr("tare.serve.parts._KEPT", 1)
    for page in (2, 1, 2):
        client.get(f"{own}/curves?workload=work&rows={page}")
    assert Marker.drawn == before + 4, "only the last one stays in memory"


def test_what_a_result_does_not_have_is_no_page_and_nothing_is_drawn_for_strangers(
    client: Client, own: str
) -> None:
    plain = result_named(client, "plain")
    client.read(plain)
    assert [client.get(f"{plain}/{name}").status for name in NAMES] == [404] * 4
    assert [Client(client.server).get(f"{own}/{name}").status for name in NAMES] == [403] * 4


def test_names_of_curves_are_text(client: Client, own: str) -> None:
    text = client.get(f"{own}/curves").text
    assert "&lt;script&gt;alert(1)" in text
    assert set(re.findall(r"<script[^>]*>", text)) == {'<script type="module" src="/static/explorer.js">'}
    assert not re.search(r"<img|\x1b|\u202e", text)
