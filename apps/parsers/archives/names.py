"""Names as they stand in archives, made safe to show and to keep."""

import re

from apps.parsers.archives.shape import RefusedError

UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufffe\uffff]"
)
_DRIVE = re.compile(r"[A-Za-z]:")
_SHOWN = 200
_DESKTOP = {".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX"}
_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst)$", re.IGNORECASE)


def printable(name: str) -> str:
    """For messages: no control characters, no end of line, not endless."""
    clean = UNPRINTABLE.sub("\ufffd", name[: _SHOWN + 1])
    return clean if len(clean) <= _SHOWN else f"{clean[: _SHOWN - 1]}…"


def relative(name: str, longest: int) -> str:
    """A path below the archive; `RefusedError` where the name leads out of it or is none."""
    if len(name) > longest:
        raise RefusedError(f"its name has {len(name):,} characters, at most {longest:,} are kept; rename it")
    if "\0" in name:
        raise RefusedError("its name holds a NUL, which programs read differently; rename it")
    path = name.replace("\\", "/")
    if path.startswith("/") or _DRIVE.match(path):
        raise RefusedError("its name is an absolute path, only relative ones are taken; pack from within the folder")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise RefusedError("its name leads out of the archive (..), which is not followed; pack from within the folder")
    if not parts:
        raise RefusedError("it has no name; pack it again with one")
    return UNPRINTABLE.sub("\ufffd", "/".join(parts))


def is_of_the_desktop(path: str) -> bool:
    """Files that macOS and Windows put beside those of people."""
    parts = path.split("/")
    return parts[0] == "__MACOSX" or parts[-1] in _DESKTOP or parts[-1].startswith("._")


def unpacked(path: str) -> str:
    """`run.log.gz` → `run.log`."""
    return _PACKED.sub("", path)


class Names:
    """Makes each path of an upload unique: the second `a.log` is `a.log (2)`."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}  # by hash: a hundred thousand long names would fill the memory

    def unique(self, path: str) -> str:
        number = self._seen.get(hash(path), 0) + 1
        name = path
        while number > 1 and hash(name := f"{path} ({number})") in self._seen:
            number += 1
        self._seen[hash(path)] = number
        self._seen.setdefault(hash(name), 1)
        return name
