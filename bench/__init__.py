# SPDX-License-Identifier: Apache-2.0
"""Speed and size claims, as ratios or medians measured side by side in one run."""
