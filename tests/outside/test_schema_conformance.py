"""The running product against its own OpenAPI description, by schemathesis: no error of the server, no status and no form of
answer that is not described, no answer that is not as described.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.outside.product import ROOT, Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
EXAMPLES = {"short": 2, "long": 60}  # of each operation, beside those that cover its parameters
PATIENCE = {"short": 500, "long": 1800}  # seconds, on a busy machine
# Listed and written by the same code as disks and arrays, which the short form takes.
ALIKE = "^(controllers|filesystems|enclosures|nics|switches|network_links|storage_paths)_(create|change|list)$"
UNLIMITED = {"SPINDLE_API_RATE": "1000000/min"}
FIO = b"""{"fio version": "fio-3.33", "jobs": [{"jobname": "j", "error": 0, "job options": {"rw": "write", "bs": "4k", "size": "1m"},
"write": {"io_bytes": 1048576, "bw_bytes": 1048576, "iops": 256.0, "runtime": 1000, "total_ios": 256}}]}"""


def test_every_answer_is_as_the_schema_has_it(own_product: Callable[..., Product], tmp_path: Path) -> None:
    product = own_product(env=UNLIMITED)
    admin = product.client(product.make_token("admin"))
    fill(admin, product)
    config = tmp_path / "schemathesis.toml"
    config.write_text(configuration(admin))
    form = "long" if os.environ.get("SPINDLE_LONG") == "1" else "short"
    # The short form asks the same each time; the long one looks for what nobody has seen yet, everywhere.
    less = [] if form == "long" else ["--seed", "1", "--exclude-operation-id-regex", ALIKE]
    argv = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "--no-color", "run",
        f"{product.url}api/schema/?format=json", "--header", f"Authorization: Bearer {admin.token}", "--checks", CHECKS,
        "--phases", "coverage,fuzzing", "--max-examples", str(EXAMPLES[form]), "--workers", "1", "--continue-on-failure",
        "--suppress-health-check", "all", "--warnings", "off", "--request-timeout", "60", *less,
    ]  # fmt: skip
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE[form], check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    assert (found := re.search(r"(\d+) generated", done.stdout)), done.stdout[-3000:]
    assert int(found[1]) > 1000
    assert "Traceback" not in product.log("web"), product.log("web")[-5000:]


def fill(admin: Client, product: Product) -> None:
    """One of everything that scripts can make, so that ids lead somewhere."""

    def made(plural: str, **fields: Any) -> int:
        answer = admin.send("POST", f"/api/v1/{plural}/", fields)
        assert answer.status == 201, (plural, answer.text)
        return int(answer.json()["id"])

    host = made("hosts", name=f"scratch {os.getpid()}", cpu_count=4, ram_bytes=1 << 34)
    made("hosts", name=f"second {os.getpid()}")
    controller = made("controllers", host=host, name="HBA")
    enclosure = made("enclosures", host=host, name="shelf")
    disks = [
        made(
            "disks",
            host=host,
            controller=controller,
            device_name=f"sd{letter}",
            serial=f"S{letter}{os.getpid()}",
            capacity_bytes=10**12,
        )
        for letter in "bcd"
    ]
    members = [{"disk": one} for one in disks]
    array = made("arrays", host=host, name="md9", level="5", implementation="software", members=members)
    filesystem = made("filesystems", host=host, array=array, mount_point="/srv/x", type="xfs")
    made("targets", host=host, name="directory", kind="directory", path="/srv/x", filesystem=filesystem)
    nic, switch = made("nics", host=host, name="eth9"), made("switches", name=f"switch {os.getpid()}")
    made("network-links", nic=nic, far_switch=switch, bits_per_second=10**10)
    made("storage-paths", host=host, name="path", array=array)
    layout = {"layout": [{"label": "", "slots": ["d0", "d1"]}], "boot_slots": ["d0"]}
    assert admin.send("PUT", f"/api/v1/enclosures/{enclosure}/layout/", layout).status == 200
    for name, content in (("fio.json", FIO), ("notes.txt", b"nothing is measured here\n")):
        sent = admin.upload("/api/v1/uploads/?keep=1", {name: content})
        product.read_in(sent.json()["url"], admin)


def configuration(admin: Client) -> str:
    """Ids and names that are there, as values that schemathesis takes more often than not."""
    paths: dict[str, dict[str, Any]] = admin.get("/api/schema/?format=json").json()["paths"]
    words, bound = [], []
    for path in paths:
        kind = path.removeprefix("/api/v1/").partition("/")[0]
        known = admin.get(f"/api/v1/{kind}/?limit=20") if f"/api/v1/{kind}/" in paths and "{" in path else None
        if known is None or known.status != 200:
            continue
        rows = known.json()["results"]
        values = {
            "id": [row["id"] for row in rows if "id" in row],
            "slug": [row["slug"] for row in rows if "slug" in row],
        }
        names = [name for name in re.findall(r"{(\w+)}", path) if values.get(name)]
        for name in names:
            words.append(f'[dictionaries."{name} of {path}"]\nvalues = {values[name]!r}\n')
        if names:
            taken = ", ".join(
                f'"path.{name}" = {{dictionary = "{name} of {path}", probability = 0.8}}' for name in names
            )
            bound.append(f'[[operations]]\ninclude-path = "{path}"\nparameters = {{{taken}}}\n')
    slugs = [row["slug"] for row in admin.get("/api/v1/studies/").json()["results"]]
    for kind in ("tables", "charts"):
        words.append(f'[dictionaries."slug of {kind}"]\nvalues = {slugs!r}\n')
        path = f"/api/v1/{kind}/{{slug}}/{{name}}/"
        bound.append(
            f'[[operations]]\ninclude-path = "{path}"\nparameters = {{"path.slug" = {{dictionary = "slug of {kind}"}}}}\n'
        )
    return "\n".join([*words, *bound])


def test_the_schema_is_built_once_and_asked_for_again_with_its_tag(product: Product) -> None:
    first = product.client().get("/api/schema/?format=json")
    assert (first.status, first.headers["ETag"][:1]) == (200, '"')
    again = product.client().get("/api/schema/?format=json", **{"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    assert product.client().get("/api/schema/").headers["ETag"] != first.headers["ETag"]  # YAML
    assert str(ROOT) not in first.text
