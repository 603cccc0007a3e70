"""What nobody waits for is done after the answer.

with answer_first() as rest:
    answer = …                # `later(act)` in here puts the act off
…                             # the answer is on its way
rest()

Elsewhere `later` does it at once. Only for what may be lost with the process: bells and calls that a sweeper makes again.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Act = Callable[[], object]
_put_off: ContextVar[list[Act] | None] = ContextVar("acts for after the answer", default=None)
log = logging.getLogger(__name__)


def later(act: Act) -> None:
    acts = _put_off.get()
    if acts is None:
        act()
    else:
        acts.append(act)


@contextmanager
def answer_first() -> Iterator[Act]:
    """What is yielded does what was put off; one that fails is logged and spoils nothing."""
    acts: list[Act] = []
    token = _put_off.set(acts)
    try:
        yield lambda: _do(acts)
    finally:
        _put_off.reset(token)


def _do(acts: list[Act]) -> None:
    while acts:
        try:
            acts.pop(0)()
        except Exception:
            log.exception("what was put off until after an answer failed")
