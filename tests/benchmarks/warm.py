"""A server that has been up for a while, as in use: in its first seconds it reads in what later pages need (`apps/asgi.py`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from tests.faults.stack import Stack

AnyStack = TypeVar("AnyStack", bound=Stack)


@contextmanager
def warmed(made: AnyStack) -> Iterator[AnyStack]:
    """With its web process; whatever else of it runs ends with it."""
    made.warm_up_after = 0
    try:
        made.start_web()
        made.until_warm()
        yield made
    finally:
        made.down()
