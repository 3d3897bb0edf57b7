# SPDX-License-Identifier: MIT
"""Sequences of fairsem-limit commands do what a model of the manual page says: sequences.py."""

import pytest


def test_sequences(limit):
    pytest.importorskip("hypothesis", reason="there is no hypothesis (package python3-hypothesis)")
    import sequences
    sequences.play(limit)
