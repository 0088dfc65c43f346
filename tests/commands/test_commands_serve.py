# SPDX-License-Identifier: Apache-2.0
"""``tare serve``: whom it offers results to, and what it says before it does."""

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

import pytest
from tests.serve.serve_example import make_result

from tare.commands import serve
from tare.commands.serve import has_browser, run_serve
from tare.errors import HostError, InputError


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])  # noqa: S104 - is refused
def test_beyond_this_host_nothing_is_offered_without_consent(host: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not encrypted.*ssh -L.*--yes-i-share"):
        run_serve([tmp_path], host, 0)


@pytest.mark.parametrize(("host", "place"), [("node7.example", "."), ("127.0.0.1", "nosuch")])
def test_what_is_no_address_or_no_folder_is_said(host: str, place: str) -> None:
    with pytest.raises(InputError, match=r"must be an IP address|there is no such folder"):
        run_serve([Path(place)], host, 0)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(HostError, match="cannot listen"):
        run_serve([tmp_path], "127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize(
    ("environment", "window"),
    [
        ({}, False),
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"BROWSER": "w3m"}, False),
        ({"DISPLAY": ":0", "BROWSER": "/usr/bin/firefox %s"}, True),
    ],
)
def test_a_browser_is_opened_only_where_it_has_a_window(environment: Mapping[str, str], window: bool) -> None:
    assert has_browser(environment) is window


def test_a_browser_learns_the_token_from_a_file_that_only_the_user_can_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("tare.commands.serve.webbrowser.open", opened.append)
    with serve._browser("http://127.0.0.1:1/?token=secret", wanted=True):
        page = Path(unquote(urlsplit(opened[0]).path))
        assert "secret" not in opened[0]
        assert "token=secret" in page.read_text()
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    assert not page.exists()


def test_the_printed_address_of_the_only_result_leads_to_it_and_an_interrupt_ends_the_server(
    tmp_path: Path,
) -> None:
    make_result(tmp_path / "results" / "mine")
    argv = [sys.executable, "-m", "tare", "serve", "--no-browser"]
    with subprocess.Popen(
        argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as server:
        assert server.stdout
        assert server.stderr
        try:
            url = server.stdout.readline().strip()
            with urlopen(url, timeout=30) as answer:  # noqa: S310 - loopback
                assert "HttpOnly" in answer.headers["Set-Cookie"]
                assert "/r/" in answer.headers["Refresh"]
        finally:
            server.send_signal(signal.SIGINT)
        assert server.stderr.read() == ""
        assert server.wait(30) == 0
