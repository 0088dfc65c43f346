# SPDX-License-Identifier: Apache-2.0
"""Reads what other tools measured. A further format is one module here and one line in ``FORMATS``."""

from tare.imports.files import is_imported, read_source
from tare.imports.formats import FORMATS
from tare.imports.series import arranged

__all__ = ["FORMATS", "arranged", "is_imported", "read_source"]
