"""Other tools that measure the same rows: what they say, and why it differs from what is said here.

A tool is one module with one `Peer`, and one entry in `PEERS`. Every number comes with the value that the tool's own
convention gives from the counts of the rows, so that a difference is either explained or shown as unexplained.
"""

from __future__ import annotations

from justicia.peers.aif360 import AIF360
from justicia.peers.base import EQUAL, Peer, PeerAnswer, PeerNumber, People
from justicia.peers.fairlearn import FAIRLEARN
from justicia.peers.running import own_answer, run_peer

__all__ = ["EQUAL", "PEERS", "Peer", "PeerAnswer", "PeerNumber", "People", "own_answer", "run_peer"]

PEERS: dict[str, Peer] = {"aif360": AIF360, "fairlearn": FAIRLEARN}
"""Tools by the name of their package."""
