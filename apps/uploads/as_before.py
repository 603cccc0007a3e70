"""A table of a look that somebody mapped before, read that way; it is shown before it is kept, as always.

Which mark stands before its decimals is never remembered: `177,456` is two numbers. Where the table's own cells do not prove
it, somebody is asked, and finds in the dialog what was said the last time.
"""

from typing import IO

from msgspec import structs

from apps.uploads.beside import Beside
from apps.uploads.found import Finder
from apps.uploads.models import UploadedFile
from apps.uploads.reading import FileReading
from apps.uploads.sandbox.parent import Found, SandboxError, reader


def read_alone(file: UploadedFile, data: bytes | IO[bytes], beside: Beside) -> Found:
    try:
        return reader().read(data, file.name, file.only, file.mapping, beside.of(file.name))
    except SandboxError as error:
        return error


def as_before(finder: Finder, file: UploadedFile, data: bytes | IO[bytes], found: Found) -> Found:
    """What was found, or what the mapping that somebody used for this look makes of it."""
    mapping = finder.remembered(file, found)
    if mapping is None or isinstance(found, SandboxError):
        return found
    file.mapping = mapping | {"decimal": "", "thousands": ""}
    if not isinstance(data, bytes):
        data.seek(0)
    again = read_alone(file, data, finder.beside)
    if isinstance(again, FileReading) and again.runs:
        return again
    file.mapping = None
    return structs.replace(found, error=again.error or found.error) if isinstance(again, FileReading) else found
