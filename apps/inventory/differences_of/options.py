"""Mount and mkfs options, option by option: their order means nothing, each of them may decide a result.

`rw,noatime,stripe=256` → {rw, noatime, stripe: 256}; `-b 4096 -d su=64k,sw=4` → {-b: 4096, -d su: 64k, -d sw: 4}.
"""

from collections.abc import Iterator

Options = dict[str, str | None]


def mount_options(text: str) -> Options:
    return dict(_option(word) for word in text.split(",") if word.strip())


def mkfs_options(text: str) -> Options:
    found: Options = {}
    words = text.split()
    while words:
        flag = words.pop(0)
        if not flag.startswith("-"):
            found |= {flag: None}
        elif words and not words[0].startswith("-"):
            found |= dict(_of_flag(flag, words.pop(0)))
        else:
            found[flag] = None
    return found


def _of_flag(flag: str, value: str) -> Iterator[tuple[str, str | None]]:
    if "=" not in value and "," not in value:
        yield flag, value
        return
    for word in value.split(","):
        name, setting = _option(word)
        yield f"{flag} {name}", setting


def _option(word: str) -> tuple[str, str | None]:
    name, sign, value = word.strip().partition("=")
    return name, value if sign else None


READERS = {"mount_options": (mount_options, "mount option"), "mkfs_options": (mkfs_options, "mkfs option")}
