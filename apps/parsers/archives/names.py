"""Names as they stand in archives, made safe to show and to store."""

import re

from apps.parsers.archives.models import ArchiveRefusedError

UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufffe\uffff]"
)
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST_PRINTED = 200
_DESKTOP = {".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX"}
_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst)$", re.IGNORECASE)


def make_printable(name: str) -> str:
    """Return the name for messages: no control characters, no line ends, at most 200 characters."""
    clean = UNPRINTABLE.sub("\ufffd", name[: _LONGEST_PRINTED + 1])
    return clean if len(clean) <= _LONGEST_PRINTED else f"{clean[: _LONGEST_PRINTED - 1]}…"


def make_relative(name: str, longest: int) -> str:
    """Return the name as a path below the archive.

    Raises:
        ArchiveRefusedError: if it leads out of the archive, is too long or is no name.
    """
    if len(name) > longest:
        raise ArchiveRefusedError(f"its name has {len(name):,} characters, at most {longest:,} are kept; rename it")
    if "\0" in name:
        raise ArchiveRefusedError("its name holds a NUL, which programs read differently; rename it")
    path = name.replace("\\", "/")
    if path.startswith("/") or _DRIVE.match(path):
        raise ArchiveRefusedError(
            "its name is an absolute path, only relative ones are taken; pack from within the folder"
        )
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ArchiveRefusedError(
            "its name leads out of the archive (..), which is not followed; pack from within the folder"
        )
    if not parts:
        raise ArchiveRefusedError("it has no name; pack it again with one")
    return UNPRINTABLE.sub("\ufffd", "/".join(parts))


def is_desktop_file(path: str) -> bool:
    """Return whether it is a file that macOS or Windows adds to a folder."""
    parts = path.split("/")
    return parts[0] == "__MACOSX" or parts[-1] in _DESKTOP or parts[-1].startswith("._")


def strip_suffix(path: str) -> str:
    """Return the name without the suffix of a compressed file: `run.log.gz` becomes `run.log`."""
    return _PACKED.sub("", path)


class UniqueNames:
    """The paths of an upload, made unique: the second `a.log` becomes `a.log (2)`."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}  # by hash, because a hundred thousand long names would fill the memory

    def unique(self, path: str) -> str:
        """Return the path, with a number where it was used before."""
        number = self._seen.get(hash(path), 0) + 1
        name = path
        while number > 1 and hash(name := f"{path} ({number})") in self._seen:
            number += 1
        self._seen[hash(path)] = number
        self._seen.setdefault(hash(name), 1)
        return name
