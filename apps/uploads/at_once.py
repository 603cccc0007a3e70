"""A small file is read by the request that brought it, where the confined child is warm and nobody else needs it: its runs are
there with the answer. Everything else is a worker's.

    with reading_here([len(data)]) as is_here:
        upload = open_upload(…, is_claimed=is_here)
        …                                           # its bytes and rows are on the disk
        if is_here:
            parse_at_once(upload, file, data)
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

from apps.parsers.archives import is_archive
from apps.runs.artefact_store import SMALL
from apps.uploads.sandbox.parent import alone, reader

_is_allowed = False


def allow() -> None:
    """In a server that answers people; tests and commands have no use for it."""
    global _is_allowed
    _is_allowed = True


@contextmanager
def reading_here(files: Sequence[bytes]) -> Iterator[bool]:
    """Whether these are read in this thread, whose the child is meanwhile."""
    fits = _is_allowed and len(files) == 1 and len(files[0]) <= SMALL and not is_archive(files[0])
    if not fits or not alone.acquire(blocking=False):
        yield False
        return
    try:
        is_warm = reader().is_warm
        yield is_warm
    finally:
        alone.release()
    if not is_warm:
        Thread(target=_warm_up, daemon=True).start()


def _warm_up() -> None:
    with alone:
        reader().warm_up()
