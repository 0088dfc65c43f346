# SPDX-License-Identifier: Apache-2.0
"""A result made ready for readers and reviewers: without names of people and hosts, as a bundle, with its citation.

Comes in: a result folder and its analysis. Goes out: texts and an archive. It measures and judges nothing.
"""
