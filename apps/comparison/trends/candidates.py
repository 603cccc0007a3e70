"""From a comparison to what can be watched: its series and points, each with the question that leaves just its runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.comparison.choices import address_value
from apps.comparison.loading import load
from apps.comparison.question import Question
from apps.comparison.readings import LABEL, POINT, Reading
from apps.comparison.words import label_of, operation_of, text_of
from apps.labs.isolation import lab_scope
from apps.runs.metrics import METRICS
from apps.runs.points import point_text

MOST = 200  # of so many, a filter helps more than a longer list
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Candidate:
    """`query` is its question's canonical address, `runs` how many there are now."""

    query: str
    text: str
    runs: int


def candidates(question: Question, lab_id: int) -> list[Candidate]:
    """Those with the most runs first, at most `MOST`. Only the lab's own runs: a watch follows no published report.
    Raises `QuestionError`.
    """
    with lab_scope(lab_id):
        readings = [one for one in load(question) if one.value is not None]
    groups: dict[Pairs, list[Reading]] = {}
    for one in readings:
        groups.setdefault(_pairs(one, question.series), []).append(one)
    found = [_candidate(question, pairs, of) for pairs, of in groups.items()]
    return sorted(found, key=lambda one: (-one.runs, one.text))[:MOST]


def _pairs(reading: Reading, series: Iterable[str]) -> Pairs:
    """The filters that leave its series and point."""
    pairs: list[tuple[str, str]] = []
    for name in series:
        pairs += _of_label(reading) if name == LABEL else [(name, address_value(reading.of(name)))]
    pairs += [(name, address_value(getattr(reading, name))) for name in POINT]
    return tuple(dict.fromkeys(pairs))


def _of_label(reading: Reading) -> list[tuple[str, str]]:
    """A label is the configuration's, else host and target."""
    names = ("study", "configuration") if reading.of("configuration") else ("host", "target")
    return [(name, address_value(reading.of(name))) for name in names]


def _candidate(question: Question, pairs: Pairs, readings: Sequence[Reading]) -> Candidate:
    names = {name for name, _ in pairs}
    kept = tuple(pair for pair in question.filters if pair[0] not in names)
    narrowed = Question(
        metric=question.metric, operation=question.operation, filters=(*kept, *pairs), base=question.base
    )
    one = readings[0]
    series = " · ".join(text_of(name, one.of(name)) for name in question.series)
    text = ", ".join(filter(None, [series, point_text(one)]))
    return Candidate(narrowed.address, text, len({each.run for each in readings}))


def title_of(question: Question) -> str:
    """`Bandwidth of write`."""
    return f"{METRICS[question.metric].label} of {operation_of(question.operation)}"


def conditions(question: Question) -> list[tuple[str, str]]:
    """What a watch is narrowed to, as (label, value) for people; a dimension that the tool has not is left out."""
    said = [(name, value) for name, value in question.filters if not (name in POINT and value == "unknown")]
    return [(label_of(name), _value_text(name, value)) for name, value in said]


def _value_text(name: str, value: str) -> str:
    is_size = name in ("file_size", "block_size", "ram", "chunk_size") and value.isdecimal()
    return text_of(name, int(value) if is_size else value)
