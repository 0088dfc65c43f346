# SPDX-License-Identifier: Apache-2.0
"""Drawing of tables and pictures, and formatting of numbers, independent of their subject."""
