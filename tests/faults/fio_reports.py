"""Reports of fio of any workload, made of a real one: what simulated hosts send."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FIXTURE = Path(__file__).parents[1] / "parsers" / "fixtures" / "fio_json" / "group.json"


@cache
def fio_report(rw: str, block_size: int, file_size: int, seconds: int = 1) -> bytes:
    """Return a report of fio as it would be of this workload: a real one with other options."""
    text = FIXTURE.read_text()
    report, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    job = report["jobs"][0]
    busy = next(name for name in ("read", "write") if job[name]["total_ios"])
    way = "write" if "write" in rw else "read"
    job["read"], job["write"] = ({**job[busy]} if name == way else _idle(job[busy]) for name in ("read", "write"))
    job["job options"] = {
        "rw": rw, "bs": str(block_size), "size": str(file_size), "direct": "0", "ioengine": "psync", "numjobs": "1",
        "runtime": str(seconds), "time_based": "1",
    }  # fmt: skip
    return json.dumps({**report, "global options": {}, "jobs": [job]}).encode()


def _idle(figures: dict[str, Any]) -> dict[str, Any]:
    return {**figures, "total_ios": 0, "io_bytes": 0, "io_kbytes": 0, "bw": 0, "bw_bytes": 0, "iops": 0, "runtime": 0}
