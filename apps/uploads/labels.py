"""Labels of uploads as people type them, and the error for values that cannot be accepted."""

from collections.abc import Callable

from apps.runs import labels as run_labels
from apps.runs.labels import spell_labels as labels_to_text
from apps.runs.workload import WorkloadError

__all__ = ["UploadError", "checked_labels", "labels_from_text", "labels_to_text"]


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
    return _refused(lambda: run_labels.check_labels(labels))


def labels_from_text(text: str) -> dict[str, str]:
    """Read `kernel=6.1, configuration="RAID 5, sw"` as people type it; a quote within quotes is doubled.

    Raises:
        UploadError: A word is no `name=value`, or a name comes twice.
    """
    return _refused(lambda: run_labels.parse_labels(text))


def _refused(read: Callable[[], dict[str, str]]) -> dict[str, str]:
    try:
        return read()
    except WorkloadError as error:
        raise UploadError(error.field, error.found, error.expected) from None
