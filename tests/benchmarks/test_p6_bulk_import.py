"""P6: ten thousand fio reports in one archive, against reading, orjson, extracting the same values, and COPY."""

import time
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest
from django.db import connection
from django.db.models import BigIntegerField, Func, Sum

from apps.labs.isolation import lab_scope
from apps.runs.models import Artefact, Run, Sample, SmallBytes
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.parsing import parse
from apps.uploads.receiving import add_file, open_upload
from apps.uploads.sandbox.parent import reader, unpacker
from tests.benchmarks.figures import LONG, pairs, report
from tests.benchmarks.fio_files import archive, reports
from tests.conftest import Cast

pytestmark = [pytest.mark.benchmark]
FILES = 10_000 if LONG else 600


def floor(folder: Path) -> float:
    """Seconds: read each file, orjson, its values, one COPY in one transaction, into a table whose key holds the values too."""
    names: dict[str, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE floor (file int, section int, name int, value float8, PRIMARY KEY (file, section, name) INCLUDE (value))"
        )
        begin = time.perf_counter()
        with cursor.copy("COPY floor FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(("int4", "int4", "int4", "float8"))
            for number, path in enumerate(sorted(folder.iterdir())):
                for file, section, name, value in _values(number, orjson.loads(path.read_bytes())):
                    copy.write_row((file, section, names.setdefault(name, len(names)), value))
        took = time.perf_counter() - begin
        cursor.execute("SELECT count(*) FROM floor")
        assert cursor.fetchone()[0] >= 20 * len(list(folder.iterdir()))
        cursor.execute("DROP TABLE floor")
    return took


def _values(number: int, found: dict[str, Any]) -> Any:
    for section, job in enumerate(found["jobs"]):
        for direction in ("read", "write", "trim"):
            part = job[direction]
            if not part["io_bytes"]:
                continue
            for name in ("bw_bytes", "iops", "io_bytes"):
                yield number, section, f"{direction} {name}", float(part[name])
            for kind in ("slat_ns", "clat_ns", "lat_ns"):
                for name in ("min", "max", "mean", "stddev"):
                    yield number, section, f"{direction} {kind} {name}", float(part[kind][name])
            for percent, value in part["clat_ns"].get("percentile", {}).items():
                if percent[:2] in ("50", "90", "95", "99"):
                    yield number, section, f"{direction} {percent}", float(value)


def memory() -> tuple[int, int]:
    """The most bytes that this process has had, with all that other tests left in it, and the most that one of its readers has had."""
    own = psutil.Process()
    return _peak(own.pid), max((_peak(one.pid) for one in own.children()), default=0)


def _peak(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def test_p6_bulk_import(transactional_db: None, cast: Cast, tmp_path: Path) -> None:
    ratios: list[float] = []
    memories: list[list[float]] = []
    for number in range(pairs(2, 5)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for place, data in enumerate(reports(FILES, seed=number)):
            (folder / f"{place:05d}.json").write_bytes(data)
        least = floor(folder)
        packed = archive(FILES, seed=number)
        with lab_scope(cast.lab.pk):
            upload = open_upload(cast.lab, "all.tar", door=Upload.Door.REST, who="benchmark", keep_at_once=True)
            reader().read(b"warm\n")
            begin = time.perf_counter()
            add_file(upload, "all.tar", packed)
            assert upload.claim()
            while not parse(upload):
                assert upload.claim()
            took = time.perf_counter() - begin
            assert UploadedFile.objects.filter(upload=upload, kept_at__isnull=False).count() == FILES
        memories.append([most / 2**20 for most in memory()])
        ratios.append(least / took)
        print(f"\nP6 {FILES} files: ours {FILES / took:.0f} files/s, floor {FILES / least:.0f} files/s", flush=True)
    report("P6", f"bulk import of {FILES} fio files ÷ floor", ratios, "≥ 0.5")
    with lab_scope(cast.lab.pk):
        size = sum(Artefact.objects.exclude(size__gt=1_000_000).values_list("size", flat=True))
        kept = _kept()
        print(
            f"\nP6 raw kept: {kept / size:.2f} of the bytes (target ≤ 0.25); {Sample.objects.count()} samples, {Run.objects.count()} runs"
        )
        again = open_upload(cast.lab, "again.tar", door=Upload.Door.REST, who="benchmark", keep_at_once=True)
        add_file(again, "again.tar", packed)
        assert again.claim()
        assert parse(again)
        assert not UploadedFile.objects.filter(upload=again, kept_at__isnull=False).exists(), "duplicates are refused"
    told = ", ".join(f"{worker:.0f} and {child:.0f} MiB" for worker, child in memories)
    print(f"\nP6 memory of the worker (here the whole test process) and of its largest reader, at most: {told}")
    assert memories[-1][1] < 300
    assert memories[-1][0] < 1.1 * memories[0][0], "it grows with the files"
    assert min(ratios) > 0.01
    reader().close()
    unpacker().close()


def _kept() -> int:
    """Bytes of the members, not of the archives."""
    kept: int = SmallBytes.objects.aggregate(
        kept=Sum(Func("packed", function="octet_length", output_field=BigIntegerField()))
    )["kept"]
    return kept
