"""Kept bytes for who must seek in them or hand them to another process, in a memory that does not grow with the file."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings

from apps.runs.artefact_store import PIECE, ArtefactStoreError, open_stream, read
from apps.runs.models import Artefact


@contextmanager
def opened(artefact: Artefact) -> Iterator[bytes | IO[bytes]]:
    """All of its bytes, in a file where they are many. Raises as `spooled` does."""
    if artefact.size <= PIECE:
        yield read(artefact)
    else:
        with spooled(artefact) as whole:
            yield whole


def spooled(artefact: Artefact) -> IO[bytes]:
    """The artefact's bytes in a file without a name; gone when it is closed. `LostBytesError` where they are not what was kept,
    `ArtefactStoreError` where there is no room for them twice.
    """
    folder = Path(settings.ARTEFACT_DIR)
    try:
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)  # a small archive itself lies in the database
        file = tempfile.TemporaryFile(prefix=".spool-", dir=folder)  # noqa: SIM115  (the caller closes it)
        for piece in open_stream(artefact):
            file.write(piece)
        file.flush()
        file.seek(0)
    except ArtefactStoreError:
        raise
    except OSError as error:
        message = f"The bytes {artefact} could not be put aside in {folder}: {error.strerror or error}"
        raise ArtefactStoreError(error.errno, message) from error
    return file
