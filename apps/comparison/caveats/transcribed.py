"""A value that was read by OCR and repaired, or read out of running text."""

from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading
from apps.lib.units import exact
from apps.runs.metrics import METRICS

WHY = {"ocr_repaired": "repaired after OCR", "read_from_text": "read from a sentence"}


def check(reading: Reading) -> str | None:
    if reading.quality not in WHY:
        return None
    unit = METRICS[reading.metric].unit if reading.metric in METRICS else ""
    parts = (part.strip() for part in reading.note.split(";"))
    found = next((f"; {part}" for part in parts if part.startswith("in the report")), "")
    return f"printed “{reading.printed}”, read as {exact(reading.value, unit)} ({WHY[reading.quality]}{found})"


RULE = Rule(
    name="transcribed",
    title="Transcribed by hand or by OCR",
    text="These figures are not the tool's own bytes. A digit or a decimal mark may have been read wrongly.",
    of_reading=check,
)
