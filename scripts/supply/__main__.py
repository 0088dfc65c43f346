# SPDX-License-Identifier: Apache-2.0
"""The audit: every check in turn, what was counted, and what could not be checked; exits with 1 on a fault."""

import sys
from pathlib import Path

from scripts.supply import debian_lock, go_lock, licences, python_lock, sboms, vulnerabilities

CHECKS = (
    python_lock.check_locks,
    python_lock.check_registry,
    python_lock.check_environment,
    go_lock.check_sums,
    go_lock.check_fetched,
    debian_lock.check_lock,
    debian_lock.check_image,
    licences.check_licences,
    sboms.check_sboms,
    vulnerabilities.check_vulnerabilities,
)


def main(repository: Path) -> int:
    findings = []
    for check in CHECKS:
        findings.append(check(repository))
        print("\n".join(findings[-1].lines()), flush=True)
    faults = sum(len(finding.faults) for finding in findings)
    unchecked = sum(finding.unchecked is not None for finding in findings)
    print(f"audit: {len(findings)} checks, {faults} faults, {unchecked} not or not wholly checked")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
