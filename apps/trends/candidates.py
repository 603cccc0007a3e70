"""The series and points of a comparison that can be watched, each with the question that selects only its runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.comparison.labels import label_of, operation_of, text_of
from apps.comparison.queries.choices import address_value
from apps.comparison.queries.samples import load
from apps.comparison.question import Question
from apps.comparison.readings import LABEL, POINT, Reading
from apps.labs.isolation import lab_scope
from apps.runs.metrics import METRICS, point_text

MOST = 200  # of so many, a filter helps more than a longer list
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class WatchCandidate:
    """`query` is its question's canonical address, `runs` how many there are now."""

    query: str
    text: str
    runs: int


def candidates(question: Question, lab_id: int) -> list[WatchCandidate]:
    """Return the series and points that the question's comparison holds, those with the most runs first, at most `MOST`.

    Only the lab's own runs count, because a watch follows no published report.

    Raises:
        QuestionError: The question cannot be answered.
    """
    with lab_scope(lab_id):
        readings = [reading for reading in load(question) if reading.value is not None]
    groups: dict[Pairs, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(_pairs(reading, question.series), []).append(reading)
    result = [_candidate(question, pairs, of) for pairs, of in groups.items()]
    return sorted(result, key=lambda candidate: (-candidate.runs, candidate.text))[:MOST]


def _pairs(reading: Reading, series: Iterable[str]) -> Pairs:
    """Return the filters that leave only the reading's series and point."""
    pairs: list[tuple[str, str]] = []
    for name in series:
        pairs += _of_label(reading) if name == LABEL else [(name, address_value(reading.of(name)))]
    pairs += [(name, address_value(getattr(reading, name))) for name in POINT]
    return tuple(dict.fromkeys(pairs))


def _of_label(reading: Reading) -> list[tuple[str, str]]:
    """Return the filters of a reading's label: its study and configuration, else its host and target."""
    names = ("study", "configuration") if reading.of("configuration") else ("host", "target")
    return [(name, address_value(reading.of(name))) for name in names]


def _candidate(question: Question, pairs: Pairs, readings: Sequence[Reading]) -> WatchCandidate:
    names = {name for name, _ in pairs}
    other_filters = tuple(pair for pair in question.filters if pair[0] not in names)
    narrowed = Question(
        metric=question.metric, operation=question.operation, filters=(*other_filters, *pairs), base=question.base
    )
    reading = readings[0]
    series = " · ".join(text_of(name, reading.of(name)) for name in question.series)
    text = ", ".join(filter(None, [series, point_text(reading)]))
    return WatchCandidate(narrowed.address, text, len({each.run for each in readings}))


def title_of(question: Question) -> str:
    """Return a title such as `Bandwidth of write`."""
    return f"{METRICS[question.metric].label} of {operation_of(question.operation)}"


def conditions(question: Question) -> list[tuple[str, str]]:
    """Return what a watch is narrowed to, as (label, value) for people, without dimensions that its tool does not have."""
    pairs = [(name, value) for name, value in question.filters if not (name in POINT and value == "unknown")]
    return [(label_of(name), _value_text(name, value)) for name, value in pairs]


def _value_text(name: str, value: str) -> str:
    is_size = name in ("file_size", "block_size", "ram", "chunk_size") and value.isdecimal()
    return text_of(name, int(value) if is_size else value)
