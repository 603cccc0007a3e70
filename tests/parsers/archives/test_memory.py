"""What reading costs: one member and little more, however hostile; and nothing outside of memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MOST_BESIDE = 64 << 20
READ = """
import io, json, resource, sys
from apps.parsers.archives import ArchiveLimits, ArchiveMember, iterate_members
from tests.parsers.archives import build
{make}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
largest = count = 0
for found in iterate_members(io.BytesIO(data), ArchiveLimits(), "a"):
    if isinstance(found, ArchiveMember):
        largest = max(largest, found.size)
    last = type(found).__name__
    count += 1
    del found
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([(after - before) * 1024, largest, count, last]))
"""
# each leaves the peak of its making low: what is large is made in pieces
CASES = {
    "one member of 200 MiB": ("""
import gzip
out = io.BytesIO()
with gzip.GzipFile(fileobj=out, mode="w", compresslevel=1) as packer:
    for number in range(200):
        packer.write(build.LOG[: 1 << 15] * 32)
data = out.getvalue(); del out
""", 200 << 20),
    "a bomb of zst": ("""
import zstandard
piece = zstandard.ZstdCompressor(level=19).compress(bytes(1 << 24))
data = piece * 64
""", 0),
    "forty members of 16 MiB": ("""
import os
out = io.BytesIO()
noise = os.urandom(1 << 17)
for number in range(40):
    out.write(build.tar_header(b"%d" % number, b"%011o\\0" % (1 << 24)))
    out.write(noise * 128)
import zstandard
data = zstandard.compress(out.getbuffer()[: 1 << 26]); del out
""", 1 << 24),
    "ninety thousand entries": ("""
raw = build.RawZip()
import struct
local, central = [], []
for number in range(90_000):
    one = build.RawZip().add(b"host%d/some/longer/path/of/a/result.log" % number, b"x", at=number * 69)
    local.append(one.body.ljust(69, b" ")); central.append(one.directory)
raw.body, raw.directory, raw.count = b"".join(local), b"".join(central), 90_000
data = raw.bytes(); del raw, local, central
""", 0),
    "equal names without end": ("""
raw = build.RawZip()
one = build.RawZip().add(b"n" * 900, b"")
data = build.COMPRESS["zst"](b"".join(build.tar_header(b"n%d" % n, b"%011o\\0" % 0) for n in range(60_000)) + bytes(1024))
""", 0),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(CASES))
def test_reading_takes_one_member_and_64_mib(case: str) -> None:
    make, member = CASES[case]
    done = subprocess.run(
        [sys.executable, "-c", READ.format(make=make)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    used, largest, count, _ = json.loads(done.stdout)
    assert count
    assert largest >= member
    assert used <= largest + MOST_BESIDE, f"{used / 2**20:.0f} MiB for a member of {largest / 2**20:.0f} MiB"
