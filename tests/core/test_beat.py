"""The scheduler of Celery's tasks goes on whatever becomes of the server's clock."""

from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from bin._lib import commands
from tests.sampling import for_each
from worker.beat import ClockProofScheduler, app

HOUR, YEAR = timedelta(hours=1), timedelta(days=365)
QUICK = {"dispatch", "advance-plans", "fire-schedules"}  # sent every 10 or 20 seconds


class FakeDay:
    """A scheduler whose clock the test moves; `sent` has the names of the entries that it has sent."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.file, self.sent = datetime(2026, 10, 25, 0, 30, tzinfo=UTC), file, list[str]()
        monkeypatch.setattr(app, "now", lambda: self.now)
        self.begin()

    def begin(self) -> None:
        """Start the scheduler, as a restart does: from what the last one has stored."""
        self.scheduler = ClockProofScheduler(app=app, schedule_filename=str(self.file))
        self.scheduler.apply_entry = lambda entry, producer=None: self.sent.append(entry.name)
        self.scheduler.__dict__["producer"] = None

    def restart(self) -> None:
        self.scheduler.sync()
        self.scheduler._store.close()
        self.begin()

    def wait(self, seconds: float) -> set[str]:
        """Let so many seconds pass; return what was sent in them."""
        self.sent.clear()
        end = self.now + timedelta(seconds=seconds)
        while self.now < end:
            pause = self.scheduler.tick()
            self.now = min(self.now + timedelta(seconds=max(pause, 0.001)), end)
        return set(self.sent)


@for_each("jump, is_restarted", product([-HOUR, -YEAR, -timedelta(seconds=30), HOUR, YEAR], [False, True]))
def test_a_clock_that_is_set_stops_nothing(
    jump: timedelta, is_restarted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = FakeDay(tmp_path / f"schedule{jump.total_seconds():g}{is_restarted}", monkeypatch)
    assert not QUICK - day.wait(60)
    day.now += jump
    if is_restarted:
        day.restart()
    assert not QUICK - day.wait(45)
    counted = [day.sent.count(name) for name in QUICK]
    assert max(counted) <= 6, "nothing is sent in a heap either"
    day.scheduler.close()


def test_the_command_of_the_product_starts_this_scheduler() -> None:
    assert "worker.beat" in commands.beat("python", Path("beat-schedule"))
    assert app.conf.beat_scheduler == "worker.beat:ClockProofScheduler"
