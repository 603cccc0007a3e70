"""The scheduler's own Celery app: it sends tasks by their names, so it loads neither Django's models nor any task."""

from datetime import timedelta
from typing import Any

from celery.beat import PersistentScheduler

from worker.celery import configured

app = configured(fixups=set())  # Django's would set up all of it
app.conf.beat_scheduler = "worker.beat:ClockProofScheduler"


class ClockProofScheduler(PersistentScheduler):  # type: ignore[misc]  # Celery has no types
    """Celery's scheduler, which also goes on when the server's clock is set back.

    Celery takes an entry up again a while after it was last sent. Where the clock is set back by an hour, or by the year
    that it was ahead, that time is in the future, and nothing at all would be sent until it has come, even after a
    restart: no dispatch, no next step of a plan, no schedule.
    """

    def tick(self, *arguments: Any, **named: Any) -> Any:
        """Send what is due, as Celery does; entries that were last sent in the future count as sent now."""
        ahead = [entry for entry in self.schedule.values() if _is_in_future(entry)]
        for entry in ahead:
            entry.last_run_at = entry.default_now()
        if ahead:
            self._heap = None  # it is ordered by when entries are due, and is made anew
        return super().tick(*arguments, **named)


def _is_in_future(entry: Any) -> bool:
    """Return whether an entry was last sent later than now; a second is no sign of a clock that was set back."""
    now, last = entry.default_now(), entry.last_run_at
    return last is not None and entry.schedule.maybe_make_aware(last) - now > timedelta(seconds=1)
