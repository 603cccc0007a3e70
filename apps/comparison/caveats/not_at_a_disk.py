"""The engine moved no data, or none to a disk: the figures are those of the host's memory, processors or network."""

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading
from apps.parsers.fio.engines import NO_DISK


def check(reading: Reading) -> str | None:
    engine = _find_engine(reading)
    return f"ioengine={engine}: {NO_DISK[engine]}" if engine in NO_DISK else None


def _find_engine(reading: Reading) -> str:
    """Return the engine of the reading's job: of its section, its run, or of all jobs of its workload."""
    known = reading.section_engine or reading.of("ioengine") or reading.evidence.asked.get("ioengine")
    if not known:
        known = _get_common(reading)
    return str(known or "").strip().lower()


def _get_common(reading: Reading) -> str:
    engines = {str(job.get("ioengine", "")) for job in reading.evidence.asked.get("jobs", ())}
    return engines.pop() if len(engines) == 1 else ""


RULE = CaveatRule(
    name="not_at_a_disk",
    title="Nothing reached a disk",
    text="The engine moves no data, or none to a disk, so the value says nothing about disks.",
    of_reading=check,
)
