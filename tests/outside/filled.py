"""A data folder whose database and files `bin/test` has filled before (`bin/_lib/migrated.py`).

The migrations and the published reports are most of a first start. They were made from nothing a few stages ago, by the
same code; only the long form does it once more in the place where people do it.
"""

import os
import shutil
from pathlib import Path

from bin._lib import backup, migrated, services
from bin._lib.layout import DataFolder
from tests.sampling import IS_LONG


def is_offered() -> bool:
    """Return whether there is something to copy, in a form that may do so."""
    return not IS_LONG and all(os.environ.get(name) for name in (migrated.REPORTS, migrated.ARTEFACTS))


def fill(data: Path) -> None:
    """Bring tables, published reports and their files into a new data folder, as a restored backup does."""
    folder, dump = DataFolder(data), data.with_name("reports.dump")
    folder.create()
    source = migrated.at(os.environ["DATABASE_URL"], os.environ[migrated.REPORTS])["DATABASE_URL"]
    manifest = backup.dump_database(source, dump)
    try:
        with services.embedded_postgres(folder, durable=False) as (url, _):
            backup.fill_database(url, dump, manifest)
    finally:
        services.release_sockets(folder)
    shutil.copytree(
        os.environ[migrated.ARTEFACTS], folder.path / "artefacts", ignore=shutil.ignore_patterns("said.json")
    )
    dump.unlink()
