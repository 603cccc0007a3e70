"""C1: ten thousand fio reports in one archive, kept at once."""

import time
from pathlib import Path

import psutil
import pytest

from apps.labs.isolation import lab_scope
from apps.runs.models import Run, Sample
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.sandbox.parent import reader, unpacker
from apps.uploads.services import add_file, open_upload
from tests.benchmarks.figures import LONG, pairs, report
from tests.benchmarks.fio_files import archive
from tests.conftest import Cast

pytestmark = [pytest.mark.benchmark]
FILES = 10_000 if LONG else 600
BUDGET, MIB = 200, 2**20


def _peak(pid: int) -> float:
    """The most MiB that a process has had."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def _read_in(name: str, data: bytes, cast: Cast) -> Upload:
    upload = open_upload(cast.lab, name, door=Upload.Door.REST, actor="benchmark", keep_at_once=True)
    add_file(upload, name, data)
    assert upload.claim()
    while not parse(upload):
        assert upload.claim()
    return upload


def test_c1_an_archive_of_fio_reports(transactional_db: None, cast: Cast) -> None:
    rates: list[float] = []
    worker: list[float] = []  # here the whole test process
    confined: list[float] = []
    with lab_scope(cast.lab.pk):
        reader().read(b"warm\n")
        for number in range(pairs(2, 3)):
            packed = archive(FILES, seed=number)
            begin = time.perf_counter()
            upload = _read_in(f"all{number}.tar", packed, cast)
            rates.append(FILES / (time.perf_counter() - begin))
            assert UploadedFile.objects.filter(upload=upload, kept_at__isnull=False).count() == FILES
            own = psutil.Process()
            worker.append(_peak(own.pid))
            confined.append(max(_peak(child.pid) for child in own.children()))
        again = _read_in("again.tar", packed, cast)
        assert not UploadedFile.objects.filter(upload=again, kept_at__isnull=False).exists(), "duplicates are refused"
        print(f"\nC1 {Sample.objects.count()} samples, {Run.objects.count()} runs", flush=True)
    middle = report("C1", f"archive of {FILES} fio reports", rates, f"≥ {BUDGET}", "files/s")
    report("C1", "memory of the worker (with the tests' own modules)", worker, "≤ 300, flat", "MiB")
    report("C1", "memory of its largest reader", confined, "≤ 300", "MiB")
    assert middle > BUDGET / 10
    assert confined[-1] < 300
    assert worker[-1] < 1.1 * worker[0], "it grows with the files"
    reader().close()
    unpacker().close()
