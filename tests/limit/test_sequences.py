# SPDX-License-Identifier: MIT
"""Random sequences of fairsem-limit commands under one name, compared with a model.

The same seed draws the same sequences; make verify SEED=2 draws others.
"""

import os

import pytest


def test_random_sequences_agree_with_the_model(limit, monkeypatch):
    hypothesis = pytest.importorskip("hypothesis", reason="there is no hypothesis (package python3-hypothesis)")
    from hypothesis.stateful import run_state_machine_as_test
    from sequences import Commands

    monkeypatch.setattr(Commands, "limit", limit)
    hypothesis.seed(int(os.environ.get("FAIRSEM_SEED", "1")))(Commands)
    # A wrong status takes as long as a hang, so hypothesis does not shrink the sequence.
    run_state_machine_as_test(Commands, settings=hypothesis.settings(
        max_examples=50, stateful_step_count=30, deadline=None, database=None,
        phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck)))
