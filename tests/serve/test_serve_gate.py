# SPDX-License-Identifier: Apache-2.0
import hmac

import pytest

from tare.serve.gate import LOOPBACK, AccessGate, is_foreign


@pytest.mark.parametrize(
    "header", ["localhost", "127.0.0.1:8000", "[::1]:1", "LOCALHOST:9", "localhost.", "127.0.0.1"]
)
def test_this_hosts_own_names_are_known_on_any_port_as_a_tunnel_has_its_own(header: str) -> None:
    assert AccessGate.new().knows_host(header)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil",
        "127.0.0.1:x",
        "[::1",
        "a b",
        "192.0.2.1",
    ],
)
def test_another_name_is_not_known_so_that_no_rebound_name_leads_here(header: str | None) -> None:
    assert not AccessGate.new().knows_host(header)


def test_a_shared_server_is_known_by_address_and_by_its_name_and_by_no_other() -> None:
    gate = AccessGate.new(LOOPBACK | {"node7"}, by_address=True)
    assert gate.knows_host("192.0.2.1:80")
    assert gate.knows_host("[2001:db8::1]:80")
    assert gate.knows_host("node7:80")
    assert not gate.knows_host("evil.example:80")


def test_secrets_are_long_differ_and_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def compared(left: bytes, right: bytes) -> bool:
        seen.append((left, right))
        return real(left, right)

    monkeypatch.setattr("tare.serve.gate.hmac.compare_digest", compared)
    gate, other = AccessGate.new(), AccessGate.new()
    assert len({gate.token, gate.key, other.token, other.key}) == 4
    assert min(len(gate.token), len(gate.key)) >= 43
    assert gate.takes(gate.token)
    assert not gate.takes(gate.key)
    assert not gate.takes("\N{LATIN SMALL LETTER E WITH ACUTE}")
    assert gate.admits(f"other=1; {gate.cookie}={gate.key}")
    assert not gate.admits(f"{gate.cookie}={gate.token}")
    assert not gate.admits(f"{other.cookie}={gate.key}")
    assert not gate.admits(None)
    assert len(seen) == 5


def test_the_cookie_is_for_no_script_and_no_other_site() -> None:
    gate = AccessGate.new()
    value = gate.set_cookie()
    assert value.startswith(f"{gate.cookie}={gate.key};")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in value.split(";")}


@pytest.mark.parametrize(
    ("site", "mode", "foreign"),
    [
        (None, None, False),
        ("same-origin", "cors", False),
        ("none", "navigate", False),
        ("cross-site", "navigate", False),
        ("cross-site", "no-cors", True),
        ("same-site", "cors", True),
    ],
)
def test_only_links_lead_here_from_other_origins(site: str | None, mode: str | None, foreign: bool) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
    assert is_foreign({name: value for name, value in headers.items() if value}) is foreign
