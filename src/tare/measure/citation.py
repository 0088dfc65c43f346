# SPDX-License-Identifier: Apache-2.0
"""Which calibration a result can cite: the newest of this host and this version, kept beside the journal."""

from tare import __version__
from tare.host.facts import host_facts
from tare.host.identity import host_identity
from tare.host.paths import calibrations_directory
from tare.journal.calibrations import newest_calibration, write_calibration
from tare.journal.result import ResultFolder
from tare.records import Calibration


def fitting_calibration() -> Calibration | None:
    """The newest calibration of this host as it is now, by this version; ``None`` without any."""
    return newest_calibration(calibrations_directory(), host_identity(host_facts()), __version__)


def cite_calibration(folder: ResultFolder) -> None:
    """Put a copy of it into the result folder, so that the report is the same wherever it is drawn."""
    found = fitting_calibration()
    if found is not None and folder.exists():
        write_calibration(folder.calibration, found)
