# SPDX-License-Identifier: Apache-2.0
"""The explorer in a real browser: by keyboard alone, on screens small and large, light and dark, at work."""

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tare.serve.heads import find_results
from tests.serve.serve_example import (
    Client,
    GrowingJournal,
    make_parts,
    make_result,
    reading_held,
    serving,
)

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
LIMIT_S = 60.0
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
AXE = """
const done = arguments[0];
axe.run({resultTypes: ["violations"]}).then(
  (result) => done(result.violations.map((each) => [each.id, each.nodes.map((node) => node.html)])),
);
"""

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH; apt install chromium"),
    pytest.mark.skipif(DRIVER is None, reason="no chromedriver on PATH; apt install chromium-driver"),
    pytest.mark.skipif(find_spec("selenium") is None, reason="no Selenium; pip install selenium"),
]


def axe_file() -> Path | None:
    """The script of axe, from a package that brings it along."""
    for package in ("axe_core_python", "axe_playwright_python"):
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            return Path(place) / "axe.min.js"
    return None


class Window:
    """One window of the browser, with a cookie of the server."""

    def __init__(self, driver: Any, client: Client, journal: GrowingJournal) -> None:
        self.driver, self.client, self.journal = driver, client, journal
        driver.get(f"{client.server.origin}/?token={client.token}")
        self.until(lambda: self.all(".results"))
        self.addresses = {
            path.rpartition("/")[2]: address
            for path, address in driver.execute_script(
                "return [...document.querySelectorAll('.name-line')].map("
                "(line) => [line.querySelector('.quiet').textContent, line.querySelector('a').href])"
            )
        }

    def until(self, holds: Callable[[], Any]) -> Any:
        """What it gives once that is something."""
        end_s = time.monotonic() + LIMIT_S
        while not (given := holds()):
            assert time.monotonic() < end_s, self.driver.current_url
            time.sleep(0.02)
        return given

    def all(self, selector: str) -> list[Any]:
        elements: list[Any] = self.driver.find_elements("css selector", selector)
        return elements

    def text(self, selector: str) -> str:
        """Empty where there is no such element: a page may just be on its way."""
        return str(
            self.driver.execute_script(
                "return document.querySelector(arguments[0])?.innerText ?? ''", selector
            )
        )

    def clicks(self, selector: str) -> None:
        """Click the first such element, once it stays there long enough."""
        self.until(lambda: self._clicked(selector))

    def _clicked(self, selector: str) -> bool:
        from selenium.common.exceptions import WebDriverException  # noqa: PLC0415 - not everybody has it

        try:
            self.all(selector)[0].click()
        except (WebDriverException, IndexError):
            return False
        return True

    def opens(self, address: str) -> None:
        """Load it anew, as from a bookmark, and wait until the result was read."""
        self.driver.get("about:blank")
        self.driver.get(address)
        self.until(lambda: self.all("footer") and not self.all("[data-wait], [data-load]:not([data-full])"))

    def keys(self, *keys: str) -> None:
        """To what has the focus."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def focus(self) -> tuple[str, str]:
        """The identity and the class of what has the focus."""
        identity, classes = self.driver.execute_script(
            "return [document.activeElement.id, document.activeElement.className]"
        )
        return str(identity), str(classes)

    def tabs_to(self, holds: Callable[[], bool]) -> None:
        """Press Tab until it holds."""
        for _ in range(40):
            if holds():
                return
            self.keys("\ue004")
        raise AssertionError(self.focus())

    def sized(self, width_px: int, *, dark: bool = False) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width_px, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


ENTER, ESCAPE, DOWN, UP = "\ue007", "\ue00c", "\ue015", "\ue013"


@contextmanager
def browser(home: Path) -> Iterator[Any]:
    from selenium import webdriver  # noqa: PLC0415 - not everybody has it
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415 - the same

    options = webdriver.ChromeOptions()
    for option in (*OPTIONS, f"--user-data-dir={home}"):
        options.add_argument(option)
    options.binary_location = BROWSER or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    folder = tmp_path_factory.mktemp("results")
    make_result(folder / "plain")
    make_result(folder / "hostile", is_hostile=True)
    make_parts(folder / "parts")
    journal = GrowingJournal(make_result(folder / "live"))
    journal.begin(22)
    with serving(folder) as client, browser(tmp_path_factory.mktemp("browser")) as driver:
        yield Window(driver, client, journal)


def test_all_is_reached_by_keys_and_escape_leads_back(window: Window) -> None:
    window.sized(1280)
    window.opens(window.client.server.origin)
    window.keys("\ue004")
    assert window.focus()[1] == "skip"
    window.keys(ENTER, "\ue004")
    assert window.focus()[0].startswith("r-")
    name = window.addresses["plain"].rpartition("/")[2]
    window.tabs_to(lambda: window.focus()[0] == f"r-{name}")
    window.keys("\ue004", ENTER)
    window.until(lambda: window.all("a.point"))
    window.tabs_to(lambda: "point" in window.focus()[1])
    first = window.focus()[0]
    window.keys(DOWN)
    second = window.focus()[0]
    assert second != first
    window.keys(UP)
    assert window.focus()[0] == first
    window.keys(DOWN, ENTER)
    window.until(lambda: window.focus()[0] == "samples-title")
    assert f"point={second.removeprefix('p-')}" in window.driver.current_url
    assert window.driver.execute_script("return document.activeElement.matches(':focus-visible')")
    window.keys(ESCAPE)
    window.until(lambda: window.focus()[0] == second)
    assert window.all("#samples") == []
    assert "point=" not in window.driver.current_url


def _announced(window: Window) -> str:
    """What a screen reader says by itself."""
    return str(window.driver.execute_script("return document.getElementById('announced').textContent"))


def test_a_filter_has_an_address_that_shows_the_same_again_and_back_leads_back(window: Window) -> None:
    window.opens(window.addresses["plain"])
    every = len(window.all("a.point"))
    window.driver.execute_script("document.getElementById('f-environment').focus()")
    window.keys("arm1")
    window.until(lambda: len(window.all("a.point")) == 1)
    assert window.focus()[0] == "f-environment"
    window.until(lambda: _announced(window).startswith("1 of"))
    address = window.driver.current_url
    assert "environment=arm1" in address
    window.clicks("a.point")
    window.until(lambda: window.all("#samples"))
    deeper = window.driver.current_url
    window.driver.back()
    window.until(lambda: not window.all("#samples"))
    window.driver.back()
    window.until(lambda: len(window.all("a.point")) == every)
    window.opens(deeper)
    assert len(window.all("a.point")) == 1
    assert len(window.all("#samples tbody th")) == 3 + 8


def test_progress_comes_in_by_itself_is_announced_and_ends(window: Window) -> None:
    window.opens(window.addresses["live"])
    window.until(lambda: "20 of 40" in window.text("#live-said"))
    window.journal.grow(6)
    window.until(lambda: "26 of 40" in window.text("#live-said"))
    assert window.text("#newer") == "Show 6 new trials"
    window.until(lambda: "26 of 40" in _announced(window))
    window.journal.grow()
    window.until(lambda: "ended: 40 of 40" in window.text("#live-said"))
    window.clicks("#newer-link")
    window.until(lambda: "40 trials" in window.text(".stamp"))
    assert "anew" not in window.driver.current_url
    assert window.text("#newer:not([hidden])") == ""


def test_a_part_is_opened_by_key_stays_open_for_filters_and_is_not_drawn_again_for_a_point(
    window: Window,
) -> None:
    window.sized(1280)
    window.opens(window.addresses["parts"])
    assert window.all("svg.chart") == []
    window.driver.execute_script("document.getElementById('toggle-sharing').focus()")
    window.keys(ENTER)
    window.until(lambda: window.all("#part-sharing svg.chart.wide"))
    assert window.focus()[0] == "toggle-sharing"
    assert "parts=sharing" in window.driver.current_url
    window.until(lambda: _announced(window) == "Sharing: drawn.")
    drawn = window.all("#part-sharing svg.chart")[0]
    window.driver.execute_script("document.querySelector('a.point').focus()")
    window.keys(ENTER)
    window.until(lambda: window.all("#samples"))
    assert window.all("#part-sharing svg.chart")[0] == drawn
    window.driver.execute_script("document.getElementById('f-environment').focus()")
    window.keys("arm1")
    window.until(lambda: "environment=arm1" in window.driver.current_url)
    window.until(lambda: window.all("#part-sharing svg.chart"))
    assert "arm0" not in window.text("#part-sharing")
    window.driver.execute_script("document.getElementById('toggle-sharing').focus()")
    window.keys(ENTER)
    window.until(lambda: not window.all("#part-sharing svg.chart"))
    assert "parts=" not in window.driver.current_url


def addresses(window: Window) -> Iterator[str]:
    """One of every kind of page, with names and texts as bad as may be."""
    hostile, plain = window.addresses["hostile"], window.addresses["plain"]
    yield window.client.server.origin
    yield f"{plain}?block=3"
    window.opens(f"{hostile}?metric=*")
    points = [point.get_attribute("href") for point in window.all("a.point")]
    yield points[-1]
    window.opens(points[-1])
    yield window.all("#samples td a")[0].get_attribute("href")
    yield f"{hostile}/host"
    yield f"{plain}?environment=nosuch"
    yield f"{plain}x"
    parts = window.addresses["parts"]
    yield f"{parts}?parts=curves.factors.sharing.order"
    yield f"{parts}/order?environment=arm1"
    first, second = (address.rpartition("/")[2] for address in (plain, hostile))
    yield f"{window.client.server.origin}/compare?r={first}&r={second}"


@pytest.fixture(scope="module")
def every_address(window: Window) -> list[str]:
    return list(addresses(window))


@pytest.mark.parametrize("width_px", [400, 800, 1280])
def test_no_page_scrolls_sideways_and_all_follow_the_readers_colours(
    window: Window, every_address: list[str], width_px: int
) -> None:
    for address in every_address:
        for dark in (False, True):
            window.sized(width_px, dark=dark)
            if not dark:
                window.opens(address)
            assert window.driver.execute_script("return document.documentElement.scrollWidth") <= width_px, (
                address
            )
            paper = window.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert paper == ("rgb(19, 23, 28)" if dark else "rgb(255, 255, 255)")


def _violations(window: Window) -> object:
    """What axe objects to on the present page."""
    script = axe_file()
    assert script
    window.driver.execute_script(script.read_text(encoding="utf-8"))
    return window.driver.execute_async_script(AXE)


@pytest.mark.skipif(axe_file() is None, reason="no axe; pip install axe-core-python")
@pytest.mark.parametrize(("width_px", "dark"), [(400, True), (1280, False)])
def test_axe_objects_to_nothing(window: Window, every_address: list[str], width_px: int, dark: bool) -> None:
    window.sized(width_px, dark=dark)
    violations_of = {}
    for address in every_address:
        window.opens(address)
        violations_of[address] = _violations(window)
    assert {address: violations for address, violations in violations_of.items() if violations} == {}


@pytest.mark.skipif(axe_file() is None, reason="no axe; pip install axe-core-python")
def test_the_page_of_a_result_that_is_being_read_is_sound_on_a_phone_and_leads_on_by_itself(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = make_result(window.journal.result.parent / "late")
    (entry,) = find_results([result])
    window.sized(400, dark=True)
    with reading_held(monkeypatch) as goes_on:
        window.until(lambda: _is_waiting_at(window, f"{window.client.server.origin}/r/{entry.identity}"))
        assert "arm2 (fake)" in window.text("main")
        assert window.driver.execute_script("return document.documentElement.scrollWidth") <= 400
        assert _violations(window) == []
        goes_on.set()
        window.until(lambda: window.all("a.point"))


def _is_waiting_at(window: Window, address: str) -> bool:
    """Load it: a new result is seen after a while."""
    window.driver.get(address)
    return bool(window.all("[data-wait]"))


def test_no_text_of_a_result_becomes_a_script_and_nothing_is_loaded_from_elsewhere(
    window: Window, every_address: list[str]
) -> None:
    window.driver.get_log("browser")
    origin = window.client.server.origin
    for address in every_address:
        window.opens(address)
        loaded = window.driver.execute_script(
            "return performance.getEntriesByType('resource').map((each) => each.name)"
        )
        assert [name for name in loaded if not name.startswith(origin)] == []
        assert window.all("img, [onerror], script:not([src])") == []
    complaints = [entry["message"] for entry in window.driver.get_log("browser")]
    assert [said for said in complaints if not re.search(r"status of (404|400)", said)] == []


def test_without_scripts_filters_and_points_still_work(window: Window) -> None:
    window.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        window.opens(f"{window.addresses['plain']}?environment=arm2")
        window.clicks("#filters button")
        window.until(lambda: "workload=" in window.driver.current_url and len(window.all("a.point")) == 1)
        window.clicks("a.point")
        window.until(lambda: window.all("#samples"))
    finally:
        window.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert json.dumps(window.driver.current_url).count("point=") == 1
