"""Labels of runs as people type them: `kernel=6.1, configuration="RAID 5, sw"`, and their checks."""

import re
from typing import Any

from apps.runs.workload import WorkloadError

_LABEL = re.compile(r'(?:"[^"\n]*"|[^,;\n])+')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_MARKS = re.compile(r'[,;"\n]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
MAX_LABELS = 50
LONGEST_NAME, LONGEST_VALUE = 60, 200
MOST_SHOWN = 200  # characters of a refused text


def check_labels(labels: Any) -> dict[str, str]:
    """Return the labels with control characters replaced.

    Raises:
        WorkloadError: They are no names with a text each, there are too many, or one is too long.
    """
    if not isinstance(labels, dict) or len(labels) > MAX_LABELS:
        raise WorkloadError("labels", str(labels)[:MOST_SHOWN], f"at most {MAX_LABELS} names with a value each")
    for name, value in labels.items():
        is_text = isinstance(name, str) and isinstance(value, str)
        if not is_text or not 0 < len(name.strip()) <= LONGEST_NAME or len(value) > LONGEST_VALUE:
            expected = f"name=value, of at most {LONGEST_NAME} and {LONGEST_VALUE} characters"
            raise WorkloadError("labels", f"{name}={value}"[:MOST_SHOWN], expected)
    return {
        _CONTROL.sub("\ufffd", name.strip()): _CONTROL.sub("\ufffd", value.strip()) for name, value in labels.items()
    }


def parse_labels(text: str) -> dict[str, str]:
    """Read `kernel=6.1, configuration="RAID 5, sw"`; a quote within quotes is doubled.

    Raises:
        WorkloadError: A word is no `name=value`, or a name comes twice.
    """
    labels: dict[str, str] = {}
    for word in filter(None, (item.strip() for item in _LABEL.findall(text))):
        name, mark, value = (item.strip() for item in word.partition("="))
        if not mark or not name:
            expected = 'name=value, several apart by commas, a value with commas in "quotes"'
            raise WorkloadError("labels", word[:MOST_SHOWN], expected)
        if name in labels:
            raise WorkloadError("labels", text[:MOST_SHOWN], f"one value for {name}")
        labels[name] = value[1:-1].replace('""', '"') if _QUOTED.fullmatch(value) else value
    return check_labels(labels)


def spell_labels(labels: dict[str, str]) -> str:
    """Write labels as `parse_labels` reads them."""
    return ", ".join(f"{name}={_quoted(value)}" for name, value in labels.items())


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if _MARKS.search(value) else value
