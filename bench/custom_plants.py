# SPDX-License-Identifier: Apache-2.0
"""Costs planted by environments of the technology `custom`, as a campaign file of anyone's: covered, and named?

    python -m bench.custom_plants [--budget 3m]                  (as root, with the image; three minutes)

Each environment is the bare namespaces of docs/custom-environment.md, and its start leaves a file in its node that
makes Tare's own `plant` do so much more work; natively there is none. One is planted with nothing. The claims: each
interval, which holds together with all others, contains what was planted; costs from 2 % on are called slower, and none
that is not there.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from bench.quiet import Quiet
from tare.drawing.words import interval_percent
from tare.host.facts import memory_byte, online_processors
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.pipeline import run_campaign
from tare.plan.campaign import load_campaign
from tare.records import Verdict, Word

PLANTS = (0, 1, 2, 3, 8, 13)
"""In per cent."""
LEAST_NAMED = 2
ITERATIONS = 1_500_000_000
"""Of a second and a half: what the shell takes beside them, alike in all arms, is a thousandth."""
CAMPAIGN = """
name = "custom-plants"
budget = "{budget}"
blocks = {{ looks = [10, 16, 24, 32] }}
layouts = ["1c1p1i"]

[[workload]]
name = "plant"
kind = "command"
argv = ["sh", "-c", '''
{{ read more < /etc/planted; }} 2>/dev/null || more=0
TARE_PLANT=$more exec {{tools}}/plant work {iterations}
''']
"""
ENVIRONMENT = """
[[environment]]
technology = "custom"
name = "plus-{percent}"
foreground = true
control_group = true
system = true
start = ["sh", "-c", 'echo {more} > $0/etc/planted; exec "$@"', "{{root}}", \
"nsenter", "--net={{network_namespace}}", "--", "unshare", "--fork", "--mount", "--pid", "--ipc", "--uts", \
"--root={{root}}", "--mount-proc", "/opt/tare/bin/init"]
enter = ["nsenter", "--target", "{{init_pid}}", "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd"]
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", default="3m")
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "custom-plants.toml"
        file.write_text(campaign_text(asked.budget, asked.iterations))
        campaign = load_campaign(
            file, host_processors=len(online_processors()), host_memory_byte=memory_byte()
        )
        request = Request(campaign=campaign, folder=ResultFolder(Path(folder) / "result"))
        verdicts = [verdict for verdict in run_campaign(request, Quiet()).verdicts if _is_claim(verdict)]
    held = [_is_held(verdict) for verdict in verdicts]
    print(
        f"{'holds' if all(held) and len(held) == len(PLANTS) else 'does not hold'}: {sum(held)} of {len(PLANTS)}"
    )
    return 0 if all(held) and len(held) == len(PLANTS) else 1


def campaign_text(budget: str, iterations: int) -> str:
    environments = (ENVIRONMENT.format(percent=percent, more=percent / 100) for percent in PLANTS)
    return CAMPAIGN.format(budget=budget, iterations=iterations) + "".join(environments)


def _is_claim(verdict: Verdict) -> bool:
    return verdict.overhead.summary.primary


def _is_held(verdict: Verdict) -> bool:
    """Print one row: what was planted, the interval beside the word, and whether both claims hold."""
    planted, shown = int(verdict.overhead.summary.environment.removeprefix("plus-")), verdict.shown
    covered = shown.low is not None and shown.high is not None and shown.low <= planted / 100 <= shown.high
    named = verdict.word is Word.SLOWER if planted >= LEAST_NAMED else verdict.word is not Word.FASTER
    silent = planted != 0 or verdict.word is not Word.SLOWER
    print(
        f"+{planted} %: {interval_percent(shown)}, n = {shown.n}: {verdict.said}{'' if covered else ', NOT COVERED'}"
    )
    return covered and named and silent


if __name__ == "__main__":
    sys.exit(main())
