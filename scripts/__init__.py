# SPDX-License-Identifier: Apache-2.0
"""What makes, locks and audits Tare's own parts; nothing here is installed with it."""
