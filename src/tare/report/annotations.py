# SPDX-License-Identifier: Apache-2.0
"""The answers of a regression gate for continuous integration: JUnit XML, GitHub's and GitLab's annotations.

GitHub: "Workflow commands for GitHub Actions" (``::error title=...::message``; per cent, line ends, and in a property
also colons and commas are escaped). GitLab: "Code quality report format" (a JSON array with description, check_name,
fingerprint, severity and location). JUnit: testsuite and testcase with failure or skipped.
"""

import hashlib
import json
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from tare.foreign import one_line
from tare.records import Regression, ResultHistory, Ruling

_COMMAND = {Ruling.EXCEEDED: "error", Ruling.UNDECIDED: "warning"}
_SEVERITY = {Ruling.EXCEEDED: "major", Ruling.UNDECIDED: "minor"}


def junit(history: ResultHistory) -> bytes:
    """A test case for each answer: failed if worse, skipped if undecided."""
    rulings = [regression.ruling for regression in history.regressions]
    suite = ET.Element(
        "testsuite",
        name="tare history",
        tests=str(len(rulings)),
        failures=str(rulings.count(Ruling.EXCEEDED)),
        errors="0",
        skipped=str(rulings.count(Ruling.UNDECIDED)),
    )
    for regression in history.regressions:
        case = ET.SubElement(suite, "testcase", classname=_arm(regression), name=_name(regression))
        if regression.ruling is Ruling.EXCEEDED:
            ET.SubElement(case, "failure", message=one_line(regression.sentence))
        elif regression.ruling is Ruling.UNDECIDED:
            ET.SubElement(case, "skipped", message=one_line(regression.sentence))
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True))


def github(history: ResultHistory) -> Iterator[str]:
    """A workflow command for each overhead that is worse, or may be."""
    for regression in history.regressions:
        if command := _COMMAND.get(regression.ruling):
            title = _escaped(_name(regression)).replace(":", "%3A").replace(",", "%2C")
            yield f"::{command} title={title}::{_escaped(one_line(regression.sentence))}"


def gitlab(history: ResultHistory) -> str:
    """A code quality report; its entries are located in the newest result."""
    return json.dumps([_finding(each) for each in history.regressions if each.ruling in _SEVERITY], indent=1)


def _finding(regression: Regression) -> dict[str, object]:
    name = f"{regression.condition.text}\n{_arm(regression)}\n{regression.metric}"
    return {
        "description": one_line(regression.sentence),
        "check_name": "tare history",
        "fingerprint": hashlib.sha256(name.encode()).hexdigest(),
        "severity": _SEVERITY[regression.ruling],
        "location": {"path": one_line(regression.newest), "lines": {"begin": 1}},
    }


def _arm(regression: Regression) -> str:
    cell = regression.cell
    return one_line(f"{cell.workload} on {cell.layout}: {regression.environment}")


def _name(regression: Regression) -> str:
    return one_line(f"{regression.condition.text} ({regression.metric})")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
