# SPDX-License-Identifier: Apache-2.0
"""Who may read: a token once, then a cookie; only under this host's own names, and from no other site's page."""

import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from tare.untrusted import is_address

TOKEN = "token"  # noqa: S105 - the parameter's name
"""The parameter of the printed address that holds it."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""No inline script or style, and nothing from anywhere else (Content Security Policy, level 3)."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Of every answer. There is none that lets another origin read it."""
_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessGate:
    """The secrets of one server, and the names under which it answers."""

    token: str
    key: str
    """The cookie's value: who sees the cookie does not know the token."""
    cookie: str
    """The cookie's name, of this server alone: a host's ports share their cookies (RFC 6265, section 8.5)."""
    names: frozenset[str] = LOOPBACK
    by_address: bool = False
    """Whether any IP address is a name of this host too: where it is reached from others."""

    @classmethod
    def new(cls, names: frozenset[str] = LOOPBACK, *, by_address: bool = False) -> Self:
        """Draw the secrets."""
        return cls(
            token=secrets.token_urlsafe(32),
            key=secrets.token_urlsafe(32),
            cookie=f"tare-{secrets.token_hex(4)}",
            names=names,
            by_address=by_address,
        )

    def knows_host(self, header: str | None) -> bool:
        """Whether a ``Host`` header names this host.

        A page of another site whose name was made to lead here (DNS rebinding) sends its own name. The port may be any,
        as an SSH tunnel has one of its own.
        """
        if header is None or not (match := _HOST.fullmatch(header)):
            return False
        name = match[1].strip("[]").lower().rstrip(".")
        return name in self.names or (self.by_address and is_address(name))

    def takes(self, given: str) -> bool:
        """Whether it is the token; takes as long for any other one of the same length."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def admits(self, header: str | None) -> bool:
        """Whether a ``Cookie`` header holds this server's key."""
        pairs = (part.strip().partition("=") for part in (header or "").split(";"))
        return any(
            name == self.cookie and hmac.compare_digest(value.encode(), self.key.encode())
            for name, _, value in pairs
        )

    def set_cookie(self) -> str:
        """The header's value, until the browser ends: no script reads it, and no other site's page sends it along."""
        return f"{self.cookie}={self.key}; Path=/; HttpOnly; SameSite=Strict"


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Whether a page of another origin asks, other than by a link to follow (Fetch Metadata).

    A page on another port of this host is of the same site, and its requests carry the cookie.
    """
    site, mode = headers.get("Sec-Fetch-Site"), headers.get("Sec-Fetch-Mode")
    return site in {"cross-site", "same-site"} and mode != "navigate"
