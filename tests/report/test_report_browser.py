# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser, without a window and without a network."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

from tare.report.document import render_report
from tests.report.comparison_example import compared
from tests.report.report_example import renamed, several_cells

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FRAME = """<!doctype html><html><head><title>not measured</title></head><body style="margin: 0">
<iframe width="{width_px}" height="900" style="border: 0" srcdoc="{page}"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {{
  const page = event.target.contentDocument, view = event.target.contentWindow, root = page.documentElement;
  for (const each of page.querySelectorAll("details")) each.open = true;
  const seen = (name) => [...page.querySelectorAll(name)].filter((one) => one.getBoundingClientRect().width);
  const style = (one, name) => view.getComputedStyle(one)[name];
  document.title = JSON.stringify({{
    width: view.innerWidth, needed: root.scrollWidth, paper: style(page.body, "backgroundColor"),
    wide: seen(".chart.wide").length, narrow: seen(".chart.narrow").length, panels: seen(".chart.panel").length,
    inks: [...new Set(seen(".chart text").map((one) => style(one, "fill")))],
    scrolling: seen(".box").filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText),
    broken: seen(".name, .whole").filter((one) => {{
      const range = page.createRange();
      range.selectNodeContents(one);
      return new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1;
    }}).map((one) => one.innerText),
    named: seen(".name").length,
    same_font: style(seen(".chart text")[0], "fontFamily") == style(page.body, "fontFamily"),
  }});
}};
</script></body></html>"""
"""A window cannot be made narrow enough, but a frame can, and the page in it cannot tell."""
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--dump-dom",
)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on PATH; apt install chromium")


@pytest.fixture(scope="module")
def report() -> str:
    long = "a-" + "very" * 30 + "-long-name"
    return render_report(renamed(several_cells(), workload=long, environment=long, text="word" * 60))


def shown_document(command: list[str], home: str) -> str:
    """Run the browser and end all of its processes."""
    with subprocess.Popen(
        command,
        env={**os.environ, "HOME": home},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as browser:
        try:
            return browser.communicate(timeout=120)[0]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(browser.pid, signal.SIGKILL)


def measured(report: str, folder: Path, width_px: int, *, dark: bool) -> dict[str, Any]:
    assert BROWSER is not None
    name = f"{width_px}-{'dark' if dark else 'light'}"
    frame = folder / f"{name}.html"
    frame.write_text(FRAME.format(width_px=width_px, page=escape(report)), encoding="utf-8")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        chosen = [
            f"--user-data-dir={home}",
            "--window-size=1400,900",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        ]
        shown = shown_document([BROWSER, *OPTIONS, *chosen, frame.as_uri()], home)
    title = re.search(r"<title>(.*?)</title>", shown, re.DOTALL)
    assert title
    document: dict[str, Any] = json.loads(unescape(title[1]))
    return document


@pytest.mark.parametrize("width_px", [400, 700, 1280])
def test_the_page_never_scrolls_sideways_even_with_long_names(
    report: str, tmp_path: Path, width_px: int
) -> None:
    shown = measured(report, tmp_path, width_px, dark=False)
    assert shown["width"] == width_px
    assert shown["needed"] <= width_px


def test_on_a_phone_every_table_is_on_the_screen_and_no_name_is_broken(tmp_path: Path) -> None:
    shown = measured(render_report(compared(several_cells())), tmp_path, 400, dark=False)
    assert shown["named"] > 50
    assert shown["scrolling"] == []
    assert shown["broken"] == []


def test_a_phone_gets_the_narrow_pictures_and_a_desk_the_wide_ones(report: str, tmp_path: Path) -> None:
    phone, desk = measured(report, tmp_path, 400, dark=False), measured(report, tmp_path, 1280, dark=False)
    assert phone["wide"] == 0 < phone["narrow"] == desk["wide"]
    assert desk["narrow"] == 0
    assert phone["panels"] == desk["panels"] > 0


def test_the_pictures_follow_the_readers_colour_scheme_and_the_pages_font(
    report: str, tmp_path: Path
) -> None:
    light, dark = measured(report, tmp_path, 1280, dark=False), measured(report, tmp_path, 1280, dark=True)
    assert light["paper"] == "rgb(255, 255, 255)"
    assert dark["paper"] == "rgb(19, 23, 28)"
    assert "rgb(27, 32, 38)" in light["inks"]
    assert "rgb(231, 234, 237)" in dark["inks"]
    assert not set(light["inks"]) & set(dark["inks"])
    assert light["same_font"]
