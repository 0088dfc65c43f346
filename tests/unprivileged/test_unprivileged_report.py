# SPDX-License-Identifier: Apache-2.0
"""What is weaker without root is said in sentences, and only where it is so."""

from dataclasses import replace

from tests.report.report_example import example

from tare.measure import verify_unprivileged as verified
from tare.records import Outcome
from tare.report.weaker import weaker

ROOT = {"memory limit": "1073741824 byte", "processors": "0,1"}
USER = {
    verified.CPU_SET: verified.BY_AFFINITY,
    verified.MEMORY: f"1073741824 byte {verified.PER_PROCESS}",
    verified.CPU_TIME: verified.BY_RUSAGE,
}


def one(name: str, facts: dict[str, str]) -> Outcome:
    """An outcome of this environment, with nothing known beside the facts."""
    made = example().outcomes[0]
    environment = replace(made.trial.environment, name=name)
    return replace(made, trial=replace(made.trial, environment=environment), facts=facts)


def test_of_roots_nodes_nothing_is_weaker() -> None:
    assert weaker([one("native", ROOT), one("docker", ROOT)]) == ()


def test_every_fact_that_the_check_of_limits_writes_has_its_sentence() -> None:
    said = weaker([one("native", USER)])
    assert [sentence.split()[0] for sentence in said] == ["Processors", "The", "CPU"]
    assert all(sentence.endswith(".") for sentence in said)


def test_what_is_not_so_everywhere_names_the_environments() -> None:
    layered = {**USER, "layer": "fuse-overlayfs on tmpfs, in a user namespace"}
    said = weaker([one("native", USER), one("light", layered), one("airy", layered)])
    assert said[-1].endswith("(airy, light).")
    assert "(" not in said[0]


def test_a_sif_that_a_program_serves_is_told_from_one_that_the_kernel_mounts() -> None:
    served, mounted = (
        {**USER, "root files": f"SIF, mounted by {by}, under overlay"}
        for by in ("squashfuse_ll", "the kernel")
    )
    said = weaker([one("native", USER), one("served", served), one("mounted", mounted)])
    assert [sentence for sentence in said if "SIF" in sentence] == [said[-1]]
    assert said[-1].endswith("(served).")


def test_a_trial_that_failed_before_its_limits_were_seen_says_nothing() -> None:
    assert weaker([one("native", {})]) == ()
