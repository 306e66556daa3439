"""Ctrl-C while somebody listens."""

from __future__ import annotations

import os
import signal

import pytest

from justicia.solvers.interruption import Interruption


def test_the_first_is_remembered_and_the_second_raises():
    before = signal.getsignal(signal.SIGINT)
    interruption = Interruption()
    with interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.pressed
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_nested_contexts_listen_until_the_outer_one_ends():
    before = signal.getsignal(signal.SIGINT)
    interruption = Interruption()
    with interruption:
        with interruption:
            pass
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.pressed
    assert signal.getsignal(signal.SIGINT) is before
    with interruption:
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
