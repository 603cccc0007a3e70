"""The embedded servers by themselves."""

import os
import subprocess
from pathlib import Path

import pytest

from bin._lib import account, binaries, postgres, services
from bin._lib.console import Trouble
from bin._lib.layout import PYTHON


def query(url: str, sql: str, **popen: object) -> subprocess.CompletedProcess[str]:
    psql = binaries.find(account.for_servers(Path("/nowhere"))).postgres("psql")
    return subprocess.run([str(psql), "-AtX", "-c", sql, url], capture_output=True, text=True, check=False, **popen)  # type: ignore[call-overload, no-any-return]


@pytest.mark.slow
def test_settings_locale_and_role(short_folder: Path) -> None:
    with services.start_embedded(short_folder / "data", durable=True) as running:
        asked = "SELECT current_user, rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user"
        assert query(running.database_url, asked).stdout == "spindle|f|t\n"
        for setting, expected in (("fsync", "on"), ("jit", "off"), ("listen_addresses", ""), ("work_mem", "64MB")):
            assert query(running.database_url, f"SHOW {setting}").stdout == f"{expected}\n"
        locale = "SELECT datlocprovider, datlocale FROM pg_database WHERE datname = 'spindle'"
        assert query(running.database_url, locale).stdout == "b|C.UTF-8\n"
        ping = "import os, redis; print(redis.from_url(os.environ['REDIS_URL']).ping())"
        env = {**os.environ, **running.environment()}
        assert subprocess.run([str(PYTHON), "-c", ping], env=env, capture_output=True, check=True).stdout == b"True\n"


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another account")
def test_another_account_may_not_connect(short_folder: Path) -> None:
    with services.start_embedded(short_folder / "data", durable=False) as running:
        refused = query(running.database_url, "SELECT 1", user=1, group=1, extra_groups=[])
        assert refused.returncode != 0
        assert "Permission denied" in refused.stderr
        sockets = (short_folder / "data" / "run").resolve()
        sockets.chmod(0o755)  # even with the folder open, the socket is not, and then PostgreSQL asks who it is
        (sockets / postgres.SOCKET).chmod(0o777)
        assert (
            "Peer authentication failed"
            in query(running.database_url, "SELECT 1", user=1, group=1, extra_groups=[]).stderr
        )


@pytest.mark.slow
def test_a_cut_short_initdb_is_made_again(short_folder: Path) -> None:
    (short_folder / "data" / "postgres.making").mkdir(parents=True)
    (short_folder / "data" / "postgres.making" / "PG_VERSION").write_text("half")
    (short_folder / "data").chmod(0o755)
    with services.start_embedded(short_folder / "data", durable=False) as running:
        assert query(running.database_url, "SELECT 1").stdout == "1\n"


def test_a_database_that_moved_away_is_not_replaced_by_an_empty_one(short_folder: Path) -> None:
    (short_folder / "data").mkdir()
    (short_folder / "data" / "postgres").symlink_to("/nowhere/at/all")
    with (
        pytest.raises(Trouble, match="was in /nowhere/at/all, which is gone"),
        services.start_embedded(short_folder / "data", durable=False),
    ):
        pass


def test_a_database_of_another_version_is_named(short_folder: Path) -> None:
    (short_folder / "data" / "postgres").mkdir(parents=True)
    (short_folder / "data" / "postgres" / "PG_VERSION").write_text("17\n")
    with (
        pytest.raises(Trouble, match="made by PostgreSQL 17 and this checkout brings 18"),
        services.start_embedded(short_folder / "data", durable=False),
    ):
        pass


def test_passwords_do_not_reach_the_terminal() -> None:
    assert services.without_password("postgresql://me:secret@db/spindle") == "postgresql://me:…@db/spindle"
    assert services.without_password("redis://127.0.0.1/0") == "redis://127.0.0.1/0"
