# SPDX-License-Identifier: Apache-2.0
"""Statistics free of anything that Tare measures: numbers in, estimates and chances out."""
