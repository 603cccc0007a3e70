"""An archive's members as rows: their names, those that are refused, and which of them are here already."""

from collections import Counter

from apps.uploads.models import FileState, UploadedFile

_LONGEST_NAME = 1000


def name_below(archive: UploadedFile, path: str) -> str:
    """The end of it, where all of it is too long."""
    return (f"{archive.name}/{path}" if path else archive.name)[-_LONGEST_NAME:]


def refusal(archive: UploadedFile, name: str, reason: str) -> UploadedFile:
    """Not in the database yet."""
    return UploadedFile(
        upload=archive.upload, archive=archive, name=name[-_LONGEST_NAME:], state=FileState.REFUSED, error=said(reason)
    )


def said(message: str) -> dict[str, str | None]:
    """As an error of a file."""
    return {"message": message, "line": None, "found": "", "expected": ""}


class Here:
    """An archive's members that are in the database: another worker may have died, or run out of time, behind them."""

    def __init__(self, archive: UploadedFile) -> None:
        rows = archive.members.values_list("name", "state")
        self._counts = Counter((name, state == FileState.REFUSED) for name, state in rows)

    def has(self, name: str, *, is_refused: bool) -> bool:
        """To be asked for each in the archive's order: a name may stand there several times, also of one that is refused."""
        key = name, is_refused
        self._counts[key] -= 1
        return self._counts[key] >= 0
