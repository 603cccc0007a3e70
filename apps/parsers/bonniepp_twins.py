"""bonnie++ prints one invocation twice, as a table and as a CSV line: here they become one record."""

from collections import defaultdict, deque
from collections.abc import Sequence

from apps.parsers import bonniepp_csv
from apps.parsers.bonniepp_record import FILES, SEEK, Record
from apps.parsers.bonniepp_text import LATENCY
from apps.parsers.source_text import SourceText

MOST_BETWEEN = 4  # lines between two parts that still belong to one run
_MOST_BELOW = 12  # lines of a table of which a row cannot be read
_FEWEST_ALIKE = 4
_FEWEST_FIGURES = 3  # that make two equal CSV lines one

Signature = tuple[str, tuple[str, ...], tuple[str, ...]]


def joined(found: Sequence[Record], text: SourceText, warnings: list[str]) -> list[Record]:
    """Each invocation once: a CSV line takes the place of the table that has the same figures."""
    if all(record.is_text for record in found):
        return list(found)
    tables: defaultdict[Signature, deque[int]] = defaultdict(deque)
    for place, record in enumerate(found):
        if record.is_text:
            tables[_signature(record)].append(place)
    kept: dict[int, Record] = {}
    seen: set[tuple[str, ...]] = set()
    repeated: set[int] = set()
    for place, record in enumerate(found):
        if record.is_text:
            kept[place] = record
            continue
        version = record.version  # as the line has it; that of 1.03 has none
        twins = tables.get(_signature(record)) if tables else None
        if tables and not twins and place - 1 in kept and _is_nearly(found[place - 1], record):
            repeated.add(place - 1)  # of the table above, a figure cannot be read
            _take(found[place - 1], record, True)
        elif twins:
            at = twins.popleft()
            _take(found[at], record, at + 1 == place)
            repeated.add(at)
        elif not bonniepp_csv.is_sure(record):
            continue
        elif _is_tail_of(record, found[place - 1] if place else None):
            warnings.append(f"line {text.number(record.first)}: this CSV line is cut off; the table above has it all")
            continue
        identity = (version, record.name, record.seed, record.size, *record.files, *record.rates, *record.cpus)
        if identity in seen and sum(1 for one in record.rates if one[:1].isdigit()) >= _FEWEST_FIGURES:
            warnings.append(f"line {text.number(record.first)}: the same CSV line once more, not counted again")
            continue
        seen.add(identity)
        kept[place] = record
    return [record for place, record in kept.items() if place not in repeated]


def _signature(record: Record) -> Signature:
    """What the table and the CSV line of one invocation print alike."""
    exact = record.latencies if record.is_scaled else [*record.rates[:5], *record.rates[6:]]
    return record.size, tuple(record.cpus), tuple(exact)


def _take(table: Record, csv: Record, is_next: bool) -> None:
    """What the table alone says, and its lines where the CSV line follows it."""
    csv.version = csv.version or table.version
    csv.chunk = table.chunk if table.size else csv.chunk
    if is_next and 0 < csv.first - table.last <= MOST_BETWEEN:
        csv.first = table.first


def _is_tail_of(record: Record, table: Record | None) -> bool:
    """Whether a CSV line that is cut off is that of the table before it."""
    if record.cut is None or table is None or not table.is_text or table.size != record.size:
        return False
    there = max(0, record.cut - 1)
    return record.cpus[:there] == table.cpus[:there] and record.first - table.last <= MOST_BETWEEN


def _is_nearly(table: Record, csv: Record) -> bool:
    """Whether a table above a CSV line is of the same invocation, but for a row or a latency that cannot be read."""
    is_far = csv.first - table.last > _MOST_BELOW
    if not table.is_text or csv.cut is not None or is_far or (table.size and table.size != csv.size):
        return False
    rates = [] if table.is_scaled else [*zip(table.rates, csv.rates, strict=True)]
    printed = [*rates[:SEEK], *rates[FILES:], *zip(table.cpus, csv.cpus, strict=True)]
    late = [pair for pair in zip(table.latencies, csv.latencies, strict=True) if LATENCY.fullmatch(pair[0])]
    both = [(one, other) for one, other in (*printed, *late) if one and other]
    alike = sum(1 for one, _ in both if one[0] != "+")
    return alike >= _FEWEST_ALIKE and all(one == other for one, other in both)
