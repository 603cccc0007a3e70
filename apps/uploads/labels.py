"""Labels as people type them, and the error for values that cannot be accepted."""

import re

_LABEL = re.compile(r'(?:"[^"\n]*"|[^,;\n])+')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_MARKS = re.compile(r'[,;"\n]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
MAX_LABELS = 50


class UploadError(ValueError):
    """What was sent cannot be taken; says which field, what was found and what was expected."""

    def __init__(self, field: str, result: object, expected: str) -> None:
        self.field, self.found, self.expected = field, str(result)[:200], expected
        super().__init__(f"{field}: found {self.found!r}, expected {expected}")


def checked_labels(labels: dict[str, str]) -> dict[str, str]:
    """Return the labels with control characters replaced.

    Raises:
        UploadError: There are too many, or one is too long.
    """
    if not isinstance(labels, dict) or len(labels) > MAX_LABELS:
        raise UploadError("labels", labels, f"at most {MAX_LABELS} names with a value each")
    for name, value in labels.items():
        if not isinstance(name, str) or not isinstance(value, str) or not 0 < len(name) <= 60 or len(value) > 200:
            raise UploadError("labels", f"{name}={value}", "name=value, of at most 60 and 200 characters")
    return {
        _CONTROL.sub("\ufffd", name.strip()): _CONTROL.sub("\ufffd", value.strip()) for name, value in labels.items()
    }


def labels_from_text(text: str) -> dict[str, str]:
    """Read `kernel=6.1, configuration="RAID 5, sw"` as people type it; a quote within quotes is doubled.

    Raises:
        UploadError: A word is no `name=value`, or a name comes twice.
    """
    labels: dict[str, str] = {}
    for word in filter(None, (item.strip() for item in _LABEL.findall(text))):
        name, mark, value = (item.strip() for item in word.partition("="))
        if not mark or not name:
            raise UploadError("labels", word, 'name=value, several apart by commas, a value with commas in "quotes"')
        if name in labels:
            raise UploadError("labels", text[:200], f"one value for {name}")
        labels[name] = value[1:-1].replace('""', '"') if _QUOTED.fullmatch(value) else value
    return checked_labels(labels)


def labels_to_text(labels: dict[str, str]) -> str:
    """Write labels as `labels_from_text` reads them."""
    return ", ".join(f"{name}={_quoted(value)}" for name, value in labels.items())


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if _MARKS.search(value) else value
