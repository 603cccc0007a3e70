"""Web, worker and dispatcher that outlive a test, for to start them takes longer than most tests last.

Between two tests they are stopped (SIGSTOP), so that nothing of theirs happens beside tests that do not expect it. A
test may kill one and start another; what lives at its end is lent to the next. What does not come to rest is ended.
"""

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connection

from apps.core.pubsub import client

NAMES = ("web", "worker", "dispatcher")
REST_S = 10.0  # until nobody is in a transaction
TASKS_S = 0.5  # until no task waits; those that a kill has left behind may wait for long
LISTS = ("spindle", "dispatch")
WORKING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
      AND state IS DISTINCT FROM 'idle'
"""


@dataclass
class StandingServers:
    """Those of one worker of pytest, which all use its database; `folder` has their logs."""

    folder: Path
    port: int
    processes: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)

    def lend(self) -> "dict[str, subprocess.Popen[bytes]]":
        """Let those that live go on, with empty logs, and return them."""
        for log in self.folder.glob("*.log"):
            os.truncate(log, 0)
        lent, self.processes = self.processes, {}
        for process in lent.values():
            _signal(process, signal.SIGCONT)
        return {name: process for name, process in lent.items() if process.poll() is None}

    def take_back(self, processes: "dict[str, subprocess.Popen[bytes]]") -> None:
        """Stop these as soon as none is in a transaction; end them where that takes too long."""
        self.processes.update(processes)
        begun = time.monotonic()
        while time.monotonic() < begun + REST_S:
            for process in self.processes.values():
                _signal(process, signal.SIGSTOP)
            if not _are_in_transaction() and (time.monotonic() > begun + TASKS_S or not _have_tasks()):
                return
            for process in self.processes.values():
                _signal(process, signal.SIGCONT)
            time.sleep(0.05)
        self.end()

    def end(self) -> None:
        for process in self.processes.values():
            _signal(process, signal.SIGKILL)
        for process in self.processes.values():
            process.wait(timeout=20)
        self.processes = {}


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    """Signal a process and its children, which have its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _have_tasks() -> bool:
    broker, prefix = client(), settings.REDIS_PREFIX
    return bool(broker.hlen(f"{prefix}unacked") or any(broker.llen(f"{prefix}{name}") for name in LISTS))


def _are_in_transaction() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WORKING)
        [working] = cursor.fetchone()
    return bool(working)
