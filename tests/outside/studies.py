"""Studies as a person makes them, for the tests of this folder: files are uploaded into them, plans and comparisons written."""

import html
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from tests.outside.product import Client, Product

GUARDS = (
    "idle", "users_out", "queues_off", "fresh_system", "alone", "cache_rule", "caches_dropped", "file_removed",
    "array_settled", "space", "temperature",
)  # fmt: skip


def new_name(start: str) -> str:
    return f"{start}-{uuid.uuid4().hex[:8]}"


def make_study(owner: Client, slug: str, language: str = "en") -> str:
    answer = owner.post("/studies/new/", {"title": f"Study {slug}", "slug": slug, "language": language}, follow=False)
    assert answer.status == 302, answer.text[:2000]
    return slug


def upload_into(
    product: Product, admin: Client, slug: str, configuration: str, name: str, text: str, **fields: str
) -> None:
    """Keep a result file as runs of a configuration, which is made where the study has it not."""
    sent = admin.upload(
        "/api/v1/uploads/?keep=true",
        {name: text.encode()},
        {"study": slug, "labels": f"configuration={configuration}", **fields},
    )
    assert sent.status in (200, 201, 202), (sent.status, sent.text[:1000])
    upload = product.read_in(sent.json()["url"], admin)
    assert upload["files"][0]["is_kept"], json.dumps(upload)[:2000]


def bonnie(machine: str, size: str, values: Sequence[int]) -> str:
    """Lines of bonnie++ 1.96 as CSV, a run each; `values`: what each wrote, in KiB/s."""
    return "".join(
        f"1.96,1.96,{machine},1,{1329851830 + at},{size},,838,98,{value},7,{value // 2},4,3609,79,{value + 9},4,228.2,1,"
        "256,,,,,30301,79,+++++,+++,2525,2,31290,79,+++++,+++,1558,1,9829us,226ms,1759ms,112ms,160ms,2016ms,300ms,"
        "458us,6094ms,309ms,17us,6206ms\n"
        for at, value in enumerate(values)
    )


def fio_report(bandwidth: int, *, with_latencies: bool = False, **options: str) -> str:
    """What `fio --output-format=json` prints of one job that read for ten seconds; `bandwidth` in bytes a second."""
    job = {"rw": "read", "bs": "1m", "size": "1g", "ioengine": "libaio", "direct": "1", "iodepth": "1", **options}
    moved = bandwidth * 10
    reads: dict[str, Any] = {
        "io_bytes": moved,
        "io_kbytes": moved // 1024,
        "bw_bytes": bandwidth,
        "bw": bandwidth // 1024,
        "iops": bandwidth / (1 << 20),
        "runtime": 10_000,
        "total_ios": moved >> 20,
    }
    if with_latencies:
        steps = {f"{share:.6f}": 1000 * at for at, share in enumerate((1, 50, 90, 95, 99, 99.9, 99.99), 1)}
        figures = {"min": 900, "max": 90_000, "mean": 2000.5, "stddev": 20.5, "N": 1000}
        reads |= {f"{kind}_ns": figures for kind in ("slat", "clat", "lat")}
        reads["clat_ns"] = figures | {"percentile": steps}
        reads |= {f"{kind}_{word}": bandwidth // 2048 for kind in ("bw", "iops") for word in ("min", "max", "mean")}
    return json.dumps(
        {
            "fio version": "fio-3.33",
            "timestamp": 1700000000 + bandwidth % 1000,
            "timestamp_ms": 1700000000000 + bandwidth % 1000,
            "time": "Tue Nov 14 22:13:20 2023",
            "jobs": [
                {"jobname": new_name("job"), "groupid": 0, "error": 0, "elapsed": 11, "job options": job, "read": reads}
            ],
        }
    )


def write_plan(
    owner: Client, slug: str, rows: Sequence[str], points: Sequence[Mapping[str, str]], rounds: int, **changed: Any
) -> None:
    """Fill in the plan's form; `rows`: names of configurations in the study's order."""
    form: dict[str, Any] = {
        "act": "save", "title": f"Plan of {slug}", "order": "interleaved", "kind": "fixed", "rounds": str(rounds), "notes": "",
        "points": str(len(points)),
    }  # fmt: skip
    for at, name in enumerate(rows):
        form |= {f"r{at}-name": name, f"r{at}-configuration": name, f"r{at}-is_included": "on"}
    for at, point in enumerate(points):
        form |= {f"p{at}-{field}": value for field, value in point.items()}
    for at, kind in enumerate(GUARDS):
        form |= {f"g{at}-kind": kind}
        if kind in changed.get("guards", ("idle", "array_settled")):
            form |= {f"g{at}-is_included": "on", f"g{at}-is_required": "on"}
    answer = owner.post(f"/studies/{slug}/plan/new/", form, follow=False)
    assert answer.status == 302, answer.text[:3000]


def plan_of(admin: Client, slug: str) -> dict[str, Any]:
    [listed] = admin.get(f"/api/v1/plans/?study={slug}").json()["results"]
    return dict(admin.get(f"/api/v1/plans/{listed['id']}/").json())


def wiki_of(admin: Client, slug: str, language: str = "en") -> str:
    answer = admin.get(f"/api/v1/studies/{slug}/?format=mediawiki&lang={language}")
    assert answer.status == 200, answer.text[:2000]
    return html.unescape(answer.text)
