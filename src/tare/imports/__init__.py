# SPDX-License-Identifier: Apache-2.0
"""Reads what other tools measured. A further format is one module here, and one line in ``formats.FORMATS``."""
