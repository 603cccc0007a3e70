"""Tasks for the workers, by a broker that may be away: what was kept meanwhile is kept, and nobody is shown an error for it."""

import logging
from typing import Any

from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)


def publish(task: Any, *args: Any, countdown: float | None = None) -> bool:
    """False where the broker is away. For work that a sweeper finds in the database, or whose asker is told then."""
    try:
        task.apply_async(args, countdown=countdown) if countdown else task.delay(*args)
    except OperationalError as error:
        log.warning("%s%s was not handed over: %s", task.name, args, error)
        return False
    return True
