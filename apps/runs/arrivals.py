"""Runs that may be read now: sent after their transaction, to whoever follows what is measured. Runs know nobody of
those, so this is a signal.

    @receiver(arrived)
    def look(sender, lab_id, runs, **_): …
"""

from collections.abc import Sequence

from django.db import transaction
from django.dispatch import Signal

from apps.lib.later import later

arrived = Signal()  # lab_id: int, runs: their ids


def announce(lab_id: int, runs: Sequence[int]) -> None:
    """A receiver that fails is logged and spoils nothing."""
    if runs:
        transaction.on_commit(lambda: later(lambda: arrived.send_robust(None, lab_id=lab_id, runs=list(runs))))
