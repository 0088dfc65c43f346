# SPDX-License-Identifier: Apache-2.0
"""The layouts of a campaign written out for its hosts: numbers in braces, and the factor ``hosts`` (docs/hosts.md)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tare.plan.factors import Factor, Of, at_hosts
from tare.plan.marks import ALL, HOSTS, PROCESSORS, NotWholeError, filled, has_mark
from tare.plan.problems import Problem, shown
from tare.plan.schema import MOST_LEVELS, Host, parse_layout
from tare.plan.toml_lines import Path
from tare.records import Layout, Level

DOUBLING = "doubling"
_NO_LIST = "needs hosts: name them by --hosts host1,host2, by --hosts FILE or in [[host]] tables"
Written = tuple[dict[str, Any], Factor | None]


def written_out(data: Mapping[str, Any], host: Host, problems: list[Problem], *, has_list: bool) -> Written:
    """The tables with each layout as a layout, and the factor ``hosts`` with the layouts that it spreads.

    ``host`` is the size that every host of the list has at least, and how many there are. A layout in which a number
    comes out as a fraction is left out, as is one that is there already.
    """
    place = _factor_place(data)
    lists = dict(_lists(data))
    if place is None and not any(has_mark(text) for texts in lists.values() for text in texts):
        return dict(data), None
    if not has_list and (place is not None or _needs_list(lists)):
        problems.append(Problem(("factor", place) if place is not None else ("layouts",), _NO_LIST))
        return dict(data), None
    known = {PROCESSORS: host.processors, ALL: host.hosts} | ({HOSTS: host.hosts} if place is None else {})
    texts = {where: _filled(own, where, known, place is not None, problems) for where, own in lists.items()}
    spread = tuple(dict.fromkeys(text for own in texts.values() for text in own if has_mark(text)))
    if problems or place is None:
        return _with_lists(data, texts), None
    counts = _counts(data["factor"][place].get("levels"), ("factor", place, "levels"), spread, host, problems)
    if problems:
        return dict(data), None
    levels = tuple(Level(key=HOSTS, text=str(count), number=float(count)) for count in counts)
    factor = Factor(key=HOSTS, of=Of.HOSTS, levels=levels, values=tuple(counts), names=spread)
    return _with_lists(data, {where: _at_all(own, counts) for where, own in texts.items()}), factor


def is_of_hosts(table: object) -> bool:
    """Whether a ``[[factor]]`` is the one over hosts, which ``written_out`` reads."""
    return isinstance(table, dict) and table.get("key") == HOSTS


def _factor_place(data: Mapping[str, Any]) -> int | None:
    listed = data.get("factor")
    places = (
        (place for place, table in enumerate(listed) if is_of_hosts(table))
        if isinstance(listed, list)
        else ()
    )
    return next(iter(places), None)


def _lists(data: Mapping[str, Any]) -> Iterator[tuple[Path, list[str]]]:
    """The lists of layouts, of the campaign and of its workloads; a wrong one is left to validation."""
    workloads = data.get("workload")
    tables: list[tuple[Path, Any]] = [((), data)]
    tables += [
        (("workload", place), own)
        for place, own in enumerate(workloads if isinstance(workloads, list) else [])
    ]
    for path, table in tables:
        own = table.get("layouts") if isinstance(table, dict) else None
        if isinstance(own, list) and all(isinstance(text, str) for text in own):
            yield (*path, "layouts"), own


def _needs_list(lists: Mapping[Path, Sequence[str]]) -> bool:
    return any(has_mark(text, name) for own in lists.values() for text in own for name in (HOSTS, ALL))


def _filled(
    texts: Sequence[str], where: Path, known: Mapping[str, int], spreads: bool, problems: list[Problem]
) -> list[str]:
    """The texts with their numbers, each once; a factor ``spreads`` those that do not say on how many hosts."""
    whole: dict[str, None] = {}
    for place, text in enumerate(texts):
        wanted = text if " on " in text or not spreads else f"{text} on {{{HOSTS}}}"
        try:
            whole[_as_printed(filled(wanted, known))] = None
        except NotWholeError:
            continue
        except ValueError as error:
            problems.append(Problem((*where, place), str(error)))
    if texts and not whole and not problems:
        problems.append(
            Problem(where, "none comes out in whole numbers on these hosts; write layouts that do")
        )
    return list(whole)


def _as_printed(text: str) -> str:
    """As a layout is printed, which workloads name it by; what is none yet, or wrong, as it is."""
    try:
        return str(Layout.parse(text))
    except ValueError:
        return text


def _counts(
    levels: object, where: Path, spread: Sequence[str], host: Host, problems: list[Problem]
) -> list[int]:
    """How many hosts each level has; fewer than two levels, or anything else, are a problem."""
    if levels == DOUBLING:
        counts = [1 << power for power in range(host.hosts.bit_length())]
        counts = [count for count in counts if all(_fits(text, count, host) for text in spread)]
        if len(counts) < 2:  # noqa: PLR2004 - a factor compares
            fitting = ", ".join(map(str, counts)) or "no number"
            problems.append(
                Problem(where, f"the layouts fit on {fitting} of the hosts alone; name more hosts")
            )
        return counts
    listed = levels if isinstance(levels, list) else []
    if not 2 <= len(listed) <= MOST_LEVELS or not all(type(level) is int and level > 0 for level in listed):  # noqa: PLR2004
        text = f'must be "{DOUBLING}", or 2 to {MOST_LEVELS} numbers of hosts such as [1, 2, 4], but is {shown(levels)}'
        problems.append(Problem(where, text))
        return []
    counts = list(dict.fromkeys(listed))
    if not spread:
        problems.append(
            Problem(where, "vary nothing: every layout says on how many hosts it is; leave that out")
        )
    for count in counts:
        problems += [Problem(where, why) for text in spread if (why := _misfit(text, count, host))]
    return counts


def _fits(text: str, count: int, host: Host) -> bool:
    return _misfit(text, count, host) is None


def _misfit(text: str, count: int, host: Host) -> str | None:
    try:
        parse_layout(filled(text, {HOSTS: count}), host)
    except ValueError as error:
        return str(error)
    return None


def _at_all(texts: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Each layout at each level that it has, in the order of the layouts."""
    return list(dict.fromkeys(at_hosts(text, count) for text in texts for count in counts))


def _with_lists(data: Mapping[str, Any], texts: Mapping[Path, Sequence[str]]) -> dict[str, Any]:
    own = dict(data)
    for path, written in texts.items():
        if len(path) == 1:
            own["layouts"] = list(written)
        else:
            place = path[1]
            own["workload"] = [
                {**table, "layouts": list(written)} if number == place else table
                for number, table in enumerate(own["workload"])
            ]
    return own
