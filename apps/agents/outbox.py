"""Live progress on its way out of the event loop: Redis may keep one waiting, and a hundred runs are as quickly told of as one."""

import asyncio
from contextlib import suppress

from django.db import DatabaseError

from apps.lib.asgi import in_thread
from apps.lib.bell import remember_all
from apps.lib.sql import NOT_DURABLE_YET, rows

# Progress is lossy: a crash of the database may lose the last of it.
PROGRESS = """
UPDATE runs_run SET progress = new.progress FROM unnest(%(runs)s::bigint[], %(progress)s::float8[]) AS new(id, progress)
WHERE runs_run.id = new.id AND runs_run.progress < new.progress AND {not_durable_yet} IS NOT NULL
RETURNING runs_run.id
"""
PAUSE_S = 0.02  # between two sendings: many runs are told of in one
Letter = tuple[int, bytes, float | None]  # run, message, progress for lists


class Outbox:
    """For the event loop; the first goes at once, and what comes meanwhile goes together."""

    def __init__(self, keep: int, seconds: int) -> None:
        self.keep, self.seconds = keep, seconds
        self._waiting: list[Letter] = []
        self._task: asyncio.Task[None] | None = None

    def put(self, run: int, message: bytes, progress: float | None) -> None:
        self._waiting.append((run, message, progress))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            letters, self._waiting = self._waiting, []
            await in_thread(self._tell, letters)
            await asyncio.sleep(PAUSE_S)

    def _tell(self, letters: list[Letter]) -> None:
        remember_all([(f"run:{run}", message) for run, message, _ in letters], self.keep, self.seconds)
        steps = {run: progress for run, _, progress in letters if progress is not None}
        if steps:
            with suppress(DatabaseError):
                rows(
                    PROGRESS.format(not_durable_yet=NOT_DURABLE_YET),
                    {"runs": list(steps), "progress": list(steps.values())},
                )
