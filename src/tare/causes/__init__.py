# SPDX-License-Identifier: Apache-2.0
"""Prior knowledge of causes, for any code that looks for them."""

from tare.causes.cures import CURES
from tare.causes.known import ANY, DEARER, KNOWN_CAUSES, LABELS, KnownCause

__all__ = ["ANY", "CURES", "DEARER", "KNOWN_CAUSES", "LABELS", "KnownCause"]
