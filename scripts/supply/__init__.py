# SPDX-License-Identifier: Apache-2.0
"""What Tare is made of: locks, licences, bills of materials, and the audit of them."""
