"""Ten thousand fio reports, each different, as a lab would bring them: made from one of our own by a seeded generator."""

import io
import random
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

MODEL = Path(__file__).parent.parent / "parsers" / "fixtures" / "fio_json" / "group.json"
_NUMBER = re.compile(rb'("(?:iops|bw_bytes|bw|io_bytes|mean|stddev|timestamp_ms)" : )(\d+)(\.\d+)?')


def reports(count: int, seed: int = 1) -> Iterator[bytes]:
    """Valid reports whose figures differ. About 9 kB and 46 samples each."""
    model, chance = MODEL.read_bytes(), random.Random(seed)
    for number in range(count):
        factor = chance.uniform(0.5, 2.0)

        def other(match: re.Match[bytes], factor: float = factor, number: int = number) -> bytes:
            if match[1].startswith(b'"timestamp'):
                return match[1] + b"%d" % (int(match[2]) + 1000 * number)
            return match[1] + b"%d" % max(1, int(int(match[2]) * factor)) + (match[3] or b"")

        yield _NUMBER.sub(other, model)


def archive(count: int, seed: int = 1) -> bytes:
    """A tar of them, uncompressed, so that the floor and we read the same bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for number, data in enumerate(reports(count, seed)):
            entry = tarfile.TarInfo(f"results/{number // 500:03d}/run{number:05d}.json")
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
    return out.getvalue()
