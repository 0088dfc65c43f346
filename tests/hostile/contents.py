# SPDX-License-Identifier: Apache-2.0
"""Journals whose every line can be read and whose content nobody would expect: one to three changes of a real one."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeAlias
from zlib import crc32

from tare.journal.lines import SEALED_SCHEMA

Line: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str | int, ...]

NUMBERS = (
    *(0, -1, 1, 2, 7, 1 << 31, (1 << 31) - 1, 1 << 62, -(1 << 62), 1 << 63, 10**400, -(10**400), 10**4000),
    *(0.0, -0.0, 0.5, 1e308, 1.7976931348623157e308, -1e308, 5e-324, 1e-308, 1e154, 1e300, 1e18, 1e-18),
    *(float("inf"), float("nan")),
)
TEXTS = (
    *("", " ", "0i", "1j", "nan", "inf", "-", "s", "B/s", "%", "1e999", "native", "work", "0c0p0i", "1c1p1i"),
    *("\x1b[2J\x1b[31m", "a\rb\nc\tb", "\x9b31m\x85\x7f", "\u202eevil\u2066", "\u200b", "\u2028x\u2029"),
    *("[red]x[/red][link=https://example.org]y[/link]", "[/nothing]", ":smile:", "\x1b]8;;http://x\x1b\\l"),
    *("\ud800", "\U0001f9ff" * 300, "e" + "\u0301" * 2000, "\x00", "{{7*7}}", "<script>", "%s%n", "=1+1"),
    *("x" * 100_000, "\x1b" * 50_000, "word " * 20_000, "\n" * 3000),
    *("9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "2026-01-01", "9999-12-31T23:59:59-14:00"),
    *("ok", "failed", "invalid", "whole", "slices", "freezer", "less is better", "more is better"),
)
_CONSISTENT = 0.6
"""How often the trials have names that fit them afterwards."""
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, ["x"], [1e308], {"\x1b": "\x1b"})


def hostile(lines: list[Line], chance: random.Random) -> list[Line]:
    """The same journal with one to three changes."""
    changed = copy.deepcopy(lines)
    for _ in range(chance.randint(1, 3)):
        chance.choices(CHANGES, WEIGHTS)[0](changed, chance)
        if not changed:
            break
    if chance.random() < _CONSISTENT:
        _name_trials(changed)
    return changed


def bare(lines: list[Line]) -> bytes:
    """As an earlier version wrote them, without checksums."""
    return b"".join(json.dumps({"schema": 1, **line}).encode() + b"\n" for line in lines)


def sealed(lines: list[Line], file: str) -> bytes:
    """With the checksums that fit them, as somebody writes them who knows how."""
    text, crc = b"", 0
    for number, line in enumerate(lines, start=1):
        link = {
            "schema": SEALED_SCHEMA,
            "file": f"{crc32(file.encode()):08x}",
            "line": number,
            "after": f"{crc:08x}",
        }
        rest = json.dumps(link | line, separators=(",", ":")).encode()[1:]
        crc = crc32(rest)
        text += b'{"crc":"%08x",%s\n' % (crc, rest)
    return text


def _one_leaf(lines: list[Line], chance: random.Random) -> None:
    """Any value of one line becomes another of its kind, or now and then of any."""
    line = chance.choice(lines)
    if places := list(_leaves(line["record"])):
        place = chance.choice(places)
        _put(line["record"], place, _other(_get(line["record"], place), chance))


def _same_leaf_everywhere(lines: list[Line], chance: random.Random) -> None:
    """The same value of all lines, or of those of one arm."""
    line = chance.choice(lines)
    places = list(_leaves(line["record"]))
    if not places:
        return
    place = chance.choice(places)
    value, arm = _other(_get(line["record"], place), chance), chance.random() < 0.3
    for each in lines:
        if each["kind"] != line["kind"] or (arm and _environment(each) != _environment(line)):
            continue
        _put(each["record"], place, value)


def _same_sample_everywhere(lines: list[Line], chance: random.Random) -> None:
    """One field of a sample of each trial: whole metrics become extreme."""
    field = chance.choice(
        ("value", "value", "x", "x", "unit", "x_unit", "name", "iteration", "instance", "round")
    )
    place, several = chance.randrange(12), chance.random() < 0.4
    drawn = _draw(field, chance)
    for line in lines:
        samples = line["record"].get("samples") or []
        for number, sample in enumerate(samples):
            if isinstance(sample, dict) and (several or number == place):
                sample[field] = _draw(field, chance) if chance.random() < 0.1 else drawn


def _draw(field: str, chance: random.Random) -> Any:
    return chance.choice(TEXTS if field in {"unit", "x_unit", "name"} else NUMBERS)


def _many_samples(lines: list[Line], chance: random.Random) -> None:
    """Thousands of metrics, points, iterations or rounds that nobody asked for."""
    field, count = (
        chance.choice(("name", "x", "iteration", "instance", "round")),
        chance.choice((50, 400, 2000)),
    )
    for line in lines:
        samples = line["record"].get("samples")
        if samples and isinstance(samples[0], dict):
            for number in range(count):
                value = f"m{number}" if field == "name" else number
                more = {"x_unit": "B"} if field == "x" else {"process": 0} if field == "round" else {}
                samples.append({**samples[0], field: value, **more})


def _doubled_samples(lines: list[Line], chance: random.Random) -> None:
    for line in lines:
        if samples := line["record"].get("samples"):
            samples.extend(copy.deepcopy(samples) * chance.randint(1, 3))


def _without_key(lines: list[Line], chance: random.Random) -> None:
    record = chance.choice(lines)["record"]
    if record:
        del record[chance.choice(list(record))]


def _without_lines(lines: list[Line], chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 3, len(lines) // 2, len(lines) - 1))):
        if len(lines) > 1:
            del lines[chance.randrange(len(lines))]


def _without_sessions(lines: list[Line], _: random.Random) -> None:
    lines[:] = [line for line in lines if line["kind"] != "session"]


def _again(lines: list[Line], chance: random.Random) -> None:
    """Lines twice, of the same or of another trial."""
    for line in chance.choices(lines, k=chance.randint(1, 5)):
        doubled = copy.deepcopy(line)
        if chance.random() < 0.5 and isinstance(trial := doubled["record"].get("trial"), dict):
            trial["identity"] = f"{trial.get('identity')}-{chance.randrange(9)}"
        lines.insert(chance.randrange(len(lines) + 1), doubled)


def _shuffled(lines: list[Line], chance: random.Random) -> None:
    chance.shuffle(lines)


def _renamed(lines: list[Line], chance: random.Random) -> None:
    """Another name of an environment, a workload or a technology, wherever it stands."""
    who, key = chance.choice(
        (("environment", "name"), ("environment", "technology"), ("workload", "name"), ("workload", "kind"))
    )
    new, least = chance.choice(TEXTS), chance.choice((0, 1, 5))
    for line in lines:
        trial = line["record"].get("trial")
        if isinstance(trial, dict) and isinstance(trial.get(who), dict) and trial.get("block", 0) != least:
            trial[who][key] = new


def _strange_blocks(lines: list[Line], chance: random.Random) -> None:
    key, value = chance.choice(("block", "slot", "replicate")), chance.choice(NUMBERS)
    for line in lines:
        if isinstance(trial := line["record"].get("trial"), dict) and chance.random() < 0.5:
            trial[key] = value


def _strange_layout(lines: list[Line], chance: random.Random) -> None:
    layout = {
        key: chance.choice((0, 1, 2, -1, 1 << 31, 1 << 62)) for key in ("nodes", "processors", "instances")
    }
    for line in lines:
        if isinstance(trial := line["record"].get("trial"), dict):
            trial["layout"] = layout


def _strange_facts(lines: list[Line], chance: random.Random) -> None:
    key, value = chance.choice(TEXTS), chance.choice(TEXTS)
    for line in lines:
        record = line["record"]
        for name in ("facts", "missing_signals", "host"):
            if name in record and isinstance(record[name], dict):
                record[name][key] = value
        if isinstance(parity := record.get("parity"), dict):
            for side in parity.values():
                if isinstance(side, dict):
                    side[key] = value if chance.random() < 0.5 else chance.choice(TEXTS)


def _strange_signals(lines: list[Line], chance: random.Random) -> None:
    base, name = chance.choice(NUMBERS), chance.choice((*TEXTS[:16], "throttled_s", "context_switches"))
    for line in lines:
        if isinstance(line["record"].get("signals"), list):
            value = base if chance.random() < 0.7 else chance.choice(NUMBERS)
            signal = {"name": name, "unit": chance.choice(("s", "1", "")), "scope": "node", "value": value}
            line["record"]["signals"] = [
                *line["record"]["signals"],
                {**signal, "lost_time": chance.random() < 0.5},
            ]


def _strange_load(lines: list[Line], chance: random.Random) -> None:
    program = {"name": chance.choice(TEXTS), "user": chance.choice(TEXTS), "pid": 7, "processors": 2.0}
    for line in lines:
        if "load" in line["record"]:
            figures = {key: chance.choice(NUMBERS) for key in ("foreign", "steal", "throttled")}
            load = {"processors": chance.choice((0, 1, 2, -1, 1 << 62)), **figures, "others": [program]}
            line["record"]["load"] = load


def _lost(lines: list[Line], chance: random.Random) -> None:
    """Trials that failed for reasons that somebody else worded."""
    for line in lines:
        if "status" in line["record"] and chance.random() < 0.4:
            said = {key: chance.choice((*TEXTS, None)) for key in ("reason", "excerpt", "clock_fault")}
            line["record"] |= {"status": chance.choice(("failed", "invalid")), **said}


CHANGES: tuple[Callable[[list[Line], random.Random], None], ...] = (
    _one_leaf,
    _same_leaf_everywhere,
    _same_sample_everywhere,
    _many_samples,
    _doubled_samples,
    _without_key,
    _without_lines,
    _without_sessions,
    _again,
    _shuffled,
    _renamed,
    _strange_blocks,
    _strange_layout,
    _strange_facts,
    _strange_signals,
    _strange_load,
    _lost,
)
WEIGHTS = (4, 6, 8, 2, 1, 1, 2, 1, 2, 1, 2, 2, 2, 2, 2, 2, 2)


def _name_trials(lines: list[Line]) -> None:
    """As ``plan`` names them, so that what was changed fits its name."""
    for line in lines:
        trial = line["record"].get("trial")
        if not isinstance(trial, dict) or trial.get("series") or trial.get("neighbour"):
            continue
        with suppress(KeyError, TypeError, ValueError):
            layout = "{nodes}c{processors}p{instances}i".format(**trial["layout"])
            names = trial["workload"]["name"], layout, trial["environment"]["name"], trial["replicate"]
            trial["identity"] = f"b{trial['block']:03d}-{'-'.join(map(str, names))}"


def _leaves(value: Any, place: Place = ()) -> Iterator[Place]:
    if isinstance(value, dict):
        for key in value:
            yield from _leaves(value[key], (*place, key))
    elif isinstance(value, list):
        for number in range(min(len(value), 40)):
            yield from _leaves(value[number], (*place, number))
    if place and not isinstance(value, dict):
        yield place


def _other(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.15:
        return chance.choice((*NUMBERS, *TEXTS, *OTHERS))
    if isinstance(value, bool) or value is None:
        return chance.choice((*OTHERS, *NUMBERS[:12], *TEXTS[:12]))
    if isinstance(value, int | float):
        return chance.choice(NUMBERS)
    return chance.choice(TEXTS) if isinstance(value, str) else chance.choice(OTHERS)


def _get(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


def _put(value: Any, place: Place, new: Any) -> None:
    """Nothing where another line has no such place."""
    try:
        _get(value, place[:-1])[place[-1]] = copy.deepcopy(new)
    except (KeyError, IndexError, TypeError):
        return


def _environment(line: Line) -> Any:
    trial = line["record"].get("trial")
    return trial.get("environment") if isinstance(trial, dict) else None
