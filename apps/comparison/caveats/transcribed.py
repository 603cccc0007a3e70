"""A value that was read by OCR and repaired, read out of running text, or whose digits somebody wrote by hand."""

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading
from apps.core.units import exact
from apps.runs.metrics import METRICS

WHY = {"ocr_repaired": "repaired after OCR", "read_from_text": "read from a sentence"}
BY_HAND = "the digits are not as the tool prints them"


def check(reading: Reading) -> str | None:
    why = WHY.get(reading.quality) or (BY_HAND if reading.of("transcribed") in ("yes", True, 1) else "")
    if not why or (reading.value is None and reading.low is None):
        return None
    unit = METRICS[reading.metric].unit if reading.metric in METRICS else ""
    parts = (part.strip() for part in reading.note.split(";"))
    place = next((f"; {part}" for part in parts if part.startswith("in the report")), "")
    return f"printed “{reading.printed}”, read as {exact(reading.value, unit)} ({why}{place})"


RULE = CaveatRule(
    name="transcribed",
    title="Transcribed by hand or by OCR",
    text="These figures are not the tool's own bytes. A digit or a decimal mark may have been read wrongly.",
    of_reading=check,
)
