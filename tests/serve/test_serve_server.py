# SPDX-License-Identifier: Apache-2.0
"""The server over loopback: what it lets in, what it says, and what it never does."""

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from bench import fake_results

from tare.records import Session, Status
from tare.serve import server as under_test
from tests.serve.serve_example import Client, make_result, result_named, serving

POLICY = "Content-Security-Policy"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    make_result(folder / "plain")
    make_result(folder / "hostile", is_hostile=True)
    (folder / "broken").mkdir()
    (folder / "broken" / "campaign.json").write_text("{")
    (folder / "secret.txt").write_text("a secret")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with serving(folder) as client:
        yield client.enters()


def stranger(client: Client) -> Client:
    return Client(client.server)


def test_without_token_or_cookie_nothing_is_shown(client: Client) -> None:
    for target in (
        "/",
        result_named(client, "plain"),
        "/compare?r=a&r=b",
        "/nosuch",
        "/?token=wrong",
        "/?token=",
    ):
        answer = stranger(client).get(target)
        assert answer.status == 403, target
        assert "fakes" not in answer.text
        assert "Set-Cookie" not in answer.headers


def test_the_token_is_taken_out_of_the_address_and_a_cookie_takes_its_place(client: Client) -> None:
    target = f"{result_named(client, 'plain')}?metric=%2A"
    answer = stranger(client).get(f"{target}&token={client.token}")
    assert answer.status == 200
    assert answer.headers["Refresh"] == f"0; url={target}"
    assert "HttpOnly; SameSite=Strict" in answer.headers["Set-Cookie"]
    assert client.token not in answer.text
    known = Client(client.server, cookie=answer.headers["Set-Cookie"].partition(";")[0])
    assert known.get("/").status == 200


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/\\evil.example", "/r/../../x", "https://evil.example/"]
)
def test_the_token_leads_to_no_other_server(client: Client, path: str) -> None:
    answer = stranger(client).get(f"{path}?token={client.token}")
    assert answer.headers.get("Refresh", "0; url=/") == "0; url=/"
    assert "evil" not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "", "127.0.0.1.evil.example:80"])
def test_a_name_that_was_made_to_lead_here_gets_nothing(client: Client, host: str) -> None:
    answer = Client(client.server, cookie=client.cookie, host=host).get(f"/?token={client.token}")
    assert answer.status == 421
    assert "Set-Cookie" not in answer.headers


def test_another_sites_page_gets_nothing_even_with_the_cookie(client: Client) -> None:
    answer = client.get("/", Sec_Fetch_Site="same-site", Sec_Fetch_Mode="cors", Origin="http://127.0.0.1:1")
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt",
        "/static/../../../pyproject.toml",
        "/static/%2e%2e/report.css",
        "/r/../plain",
        "/r/%2Fetc%2Fpasswd",
        "/r/plain/journal",
        "/static//etc/passwd",
        "/static/explorer.css/",
        "//etc/passwd",
        "/r/",
        "/r/x/",
    ],
)
def test_no_path_reaches_a_file(client: Client, target: str) -> None:
    answer = client.get(target)
    assert answer.status == 404
    assert "secret" not in answer.text
    assert unquote(target) not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_is_changed_by_any_request(client: Client, method: str) -> None:
    assert client.get("/", method=method).status == 501


def test_a_head_request_gets_no_content(client: Client) -> None:
    answer = client.raw(f"HEAD / HTTP/1.0\r\nHost: localhost\r\nCookie: {client.cookie}\r\n\r\n".encode())
    assert (answer.status, answer.text) == (200, "")


@pytest.mark.parametrize(
    "more", ["Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]
)
def test_a_request_with_content_is_refused(client: Client, more: str) -> None:
    assert client.raw(f"GET / HTTP/1.1\r\nHost: localhost\r\n{more}".encode()).status == 400


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (f"/?x={'a' * 5000}", 414),
        (f"/?{'a=1&' * 40}", 400),
        ("/r/RESULT?block=x", 400),
        ("/r/RESULT?block=99999999999999", 400),
        (f"/r/RESULT?environment={'a' * 500}", 400),
        ("/r/RESULT?point=nosuch", 200),
        ("/r/RESULT/trial?trial=nosuch", 404),
        ("/r/RESULT?page=999&rows=999&metric=*", 200),
        ("/compare?r=RESULT", 400),
        ("/compare?r=RESULT&r=nosuch", 400),
        ("/compare", 400),
    ],
    ids=range(11),
)
def test_a_wrong_address_gets_a_sentence_and_no_fault(client: Client, target: str, status: int) -> None:
    identity = result_named(client, "plain").rpartition("/")[2]
    client.read(f"/r/{identity}")
    answer = client.get(target.replace("RESULT", identity))
    assert answer.status == status
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "request_line", [b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET / SMTP/1\r\n\r\n"]
)
def test_what_is_no_request_is_answered_in_words_without_an_echo(client: Client, request_line: bytes) -> None:
    with client.connected() as connection:
        connection.sendall(request_line)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"SMTP" not in answer
    assert b"not a request that Tare answers" in answer


def test_every_answer_forbids_scripts_of_others_and_leaves_no_copy(client: Client) -> None:
    targets = ("/", "/nosuch", "/static/explorer.js", result_named(client, "plain"))
    answers = [client.read(target) for target in targets] + [stranger(client).get("/")]
    for answer in answers:
        policy = answer.headers[POLICY]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "Python" not in answer.headers["Server"]


def pages_of(client: Client, name: str) -> Iterator[str]:
    """The text of every kind of page of a result."""
    own = result_named(client, name)
    whole = client.read(f"{own}?metric=%2A").text
    yield whole
    yield from (client.get(f"{own}/host").text, client.get("/").text)
    for point in sorted(set(re.findall(r"point=([0-9a-f]{12})", whole))):
        text = client.get(f"{own}?metric=%2A&point={point}&block=2").text
        yield text
        for trial in re.findall(rf'href="({own}/trial[^"]+)"', text)[:2]:
            yield client.get(trial.replace("&amp;", "&")).text


def test_what_a_result_says_is_text_on_every_page(client: Client) -> None:
    texts = list(pages_of(client, "hostile"))
    assert len(texts) > 10
    scripts = {script for text in texts for script in re.findall(r"<script[^>]*>[^<]*", text)}
    assert scripts == {'<script type="module" src="/static/explorer.js">'}
    assert sum("&lt;script&gt;alert(1)" in text for text in texts) > 5
    for text in texts:
        assert not re.search(
            r"<img|\son\w+=[^&]|\sstyle=|javascript:", text.replace("src=x onerror=alert(2)&gt;", "")
        )
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_the_figures_are_those_of_the_analysis(client: Client, folder: Path) -> None:
    from tare.drawing.words import interval_percent, unbreakable  # noqa: PLC0415 - of this test alone
    from tare.pipeline import analyse_result  # noqa: PLC0415 - the same

    analysis = analyse_result(folder / "plain")
    text = client.read(result_named(client, "plain")).text
    primary = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    assert len(primary) == 3
    for verdict in primary:
        assert f">{unbreakable(interval_percent(verdict.shown))}<" in text
    data = client.get(f"{result_named(client, 'plain')}/data.json")
    assert data.headers["Content-Type"] == "application/json"
    sentences = [verdict["sentence"] for verdict in json.loads(data.text)["verdicts"]]
    assert sentences == [verdict.sentence for verdict in analysis.verdicts]


def test_filters_are_in_the_address_and_leave_what_they_say(client: Client) -> None:
    own = result_named(client, "plain")
    client.read(own)
    text = client.get(f"{own}?environment=arm1").text
    assert len(re.findall(r'<a class="point', text)) == 1
    assert '<option value="arm1" selected>' in text
    every = client.get(f"{own}?metric=%2A").text
    assert len(re.findall(r'<a class="point', every)) > 3
    none = client.get(f"{own}?environment=nosuch").text
    assert "no point is left by these filters" in none
    assert "block 3:" in client.get(f"{own}?block=3").text


def test_no_mark_lies_beyond_the_axis(client: Client) -> None:
    own = result_named(client, "plain")
    client.read(own)
    for block in range(6):
        text = client.get(f"{own}?block={block}").text
        marks = re.findall(r'<svg x="([0-9.]+)%" y="11"|class="block" x1="([0-9.]+)%"', text)
        places = [float(mark or line) for mark, line in marks]
        assert len(places) > 6
        assert 0 < min(places) < max(places) < 100


def test_behind_a_point_are_its_blocks_its_arms_and_each_trials_samples(client: Client) -> None:
    own = result_named(client, "plain")
    point = re.findall(r"point=([0-9a-f]{12})", client.read(own).text)[0]
    text = client.get(f"{own}?point={point}").text
    assert "8 complete blocks" in text
    assert len(re.findall(r'<th scope="row">block', text)) == 8
    trials = re.findall(rf'href="({own}/trial[^"]+)"', text)
    assert len(trials) == 24
    trial = client.get(trials[0].replace("&amp;", "&")).text
    assert "time_s" in trial
    assert str(Status.OK) in trial
    assert len(re.findall(r'<th scope="row">block', client.get(f"{own}?point={point}&block=3").text)) == 1


def test_a_result_that_cannot_be_read_says_why_and_harms_no_other(client: Client) -> None:
    own = re.findall(r'href="(/r/[0-9a-f]+)">broken<', client.get("/").text)[0]
    answer = client.get(own)
    assert answer.status in {400, 500}
    assert "campaign.json" in answer.text
    assert client.read(result_named(client, "plain")).status == 200


def test_a_large_journal_is_shown_from_its_columns_which_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.journal.large.LARGE_JOURNAL_BYTE", 0)
    make_result(tmp_path / "large", is_hostile=True)
    with serving(tmp_path) as client:
        own = result_named(client.enters(), "large")
        point = re.findall(r"point=([0-9a-f]{12})", client.read(own).text)[0]
        text = client.get(f"{own}?point={point}").text
        assert "one joined sample for each trial and metric" in text
        (trial, *_) = re.findall(rf'href="({own}/trial[^"]+)"', text)
        assert "3 samples" in client.get(trial.replace("&amp;", "&")).text
        assert client.get(f"{own}/host").status == 200


def test_a_long_list_comes_in_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tare.serve.pages.LISTED", 2)
    first, second = client.get("/").text, client.get("/?page=2").text
    assert "3 results" in first
    assert 'href="?page=2"' in first
    assert (first.count("<li>"), second.count("<li>")) == (2, 1)


def test_two_copies_of_one_measurement_are_not_compared(client: Client) -> None:
    first, second = (result_named(client, name).rpartition("/")[2] for name in ("plain", "hostile"))
    for name in ("plain", "hostile"):
        client.read(result_named(client, name))
    answer = client.get(f"/compare?r={first}&r={second}")
    assert answer.status == 400
    assert "the same measurements" in answer.text


def test_results_are_compared_with_the_oldest_until_another_one_is_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = fake_results._session

    def later(planned: int, digest: str | None) -> Session:
        host = {"kernel": "6.9", "processor": "none"}
        return replace(
            usual(planned, digest), identity="later", started_utc="2026-02-01T00:00:00Z", host=host
        )

    make_result(tmp_path / "before")
    monkeypatch.setattr(fake_results, "_session", later)
    make_result(tmp_path / "after")
    with serving(tmp_path) as client:
        text = client.enters().get("/").text
        identities = re.findall(r'name="r" value="([0-9a-f]+)"', text)
        query = "&".join(f"r={identity}" for identity in identities)
        assert text.index("/after") < text.index("/before")
        text = client.read(f"/compare?{query}&order=oldest").text
        assert re.search(r"The reference: <a [^>]*>before</a>", text)
        assert "native" in text
        assert "not a difference between their days" in text
        assert re.search(r"≠ 6\.1.*≠ 6\.9", text, re.DOTALL)
        (other,) = re.findall(r'href="(/compare[^"]+)"', text)
        assert re.search(r"The reference: <a [^>]*>after</a>", client.read(other.replace("&amp;", "&")).text)


@pytest.mark.parametrize(
    ("address", "origin"),
    [("127.0.0.1", "http://127.0.0.1:8000"), ("::1", "http://[::1]:8000"), ("0.0.0.0", "http://node7:8000")],  # noqa: S104 - the case
)
def test_the_printed_address_is_one_that_a_browser_reaches(
    address: str, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "node7")
    server = object.__new__(under_test.ExplorerServer)  # bound to nothing
    server.server_address, server.server_port = (address, 8000), 8000
    assert server.origin == origin
