# SPDX-License-Identifier: Apache-2.0
"""How the image came to the hosts, in words."""

from tare.environments.ssh.spreading import ImageSpread
from tare.measure.ready import carried_said
from tare.records import Carried


def said(*ways: Carried) -> list[str]:
    spread = ImageSpread("sha256:1")
    spread.carried = {f"h{number}": way for number, way in enumerate(ways)}
    spread.remarks = ["h9 could not"]
    return list(carried_said(spread))


def test_where_every_host_has_it_nothing_is_said_but_what_failed() -> None:
    assert said() == ["h9 could not"]


def test_it_is_said_how_many_got_it_from_whom_and_how_long_the_last_one_took() -> None:
    first = Carried(source=None, wall_s=3.0, transfers=1)
    passed = [Carried(source="h0", wall_s=5.0 * number, transfers=number) for number in (2, 3)]
    assert said(first)[0] == "the image went from here to 1 host in 3 s"
    assert said(passed[0])[0] == "the image went from host to host to 1 host, 2 transfers in a row, in 10 s"
    assert said(first, *passed)[0] == (
        "the image went from here to 1 host and from host to host to 2 hosts, 3 transfers in a row, in 15 s"
    )
