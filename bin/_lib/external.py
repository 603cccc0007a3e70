"""A PostgreSQL and a Redis of the system, if they answer on the usual local ports without a password.

The tests that touch SQL, broker and bell run on them again, in a database and under a key prefix of their own.
"""

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bin._lib.console import Trouble
from bin._lib.psql import psql

POSTGRES_PLACES = ("127.0.0.1", "%2Fvar%2Frun%2Fpostgresql", "%2Ftmp")
REDIS = ("127.0.0.1", 6379)
REDIS_DB = 15


@contextmanager
def servers() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what was found, in words, and the environment for the tests.

    Raises:
        Trouble: One of the servers does not answer.
    """
    place, version = find_postgres()
    redis = redis_version()
    name = f"spindle_test_{os.getpid()}"
    prefix = f"{name}:"
    psql(place, f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    try:
        yield (
            f"PostgreSQL {version // 10000}.{version % 10000} and Redis {redis}",
            {
                "DATABASE_URL": place.replace("/postgres?", f"/{name}?"),
                "REDIS_URL": f"redis://{REDIS[0]}:{REDIS[1]}/{REDIS_DB}",
                "SPINDLE_REDIS_PREFIX": prefix,
            },
        )
    finally:
        left = psql(place, f"SELECT datname FROM pg_database WHERE datname LIKE '%{name}%'").split()
        for database in left:
            psql(place, f'DROP DATABASE "{database}" WITH (FORCE)')
        forget_keys(prefix)


def find_postgres() -> tuple[str, int]:
    """Return the address of its `postgres` database, and its version as a number."""
    for user in dict.fromkeys(("postgres", "root", getpass.getuser())):
        for host in POSTGRES_PLACES:
            url = f"postgresql://{user}@/postgres?host={host}"
            with suppress(Trouble):
                version = int(psql(url, "SHOW server_version_num"))
                if version >= 150000:
                    return url, version
    raise Trouble("no external PostgreSQL >= 15 answers without a password on port 5432")


def redis_version() -> str:
    try:
        info = redis("INFO", "server")
    except OSError:
        raise Trouble("no external Redis >= 7 answers on port 6379") from None
    found = [line.partition(":")[2] for line in info.splitlines() if line.startswith("redis_version:")]
    if not found or int(found[0].split(".")[0]) < 7:
        raise Trouble(
            f"the external Redis has version {found[0] if found else 'unknown, it may want a password'}, not >= 7"
        )
    return found[0]


def forget_keys(prefix: str) -> None:
    script = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end return 'done'"
    with suppress(OSError):
        redis("EVAL", script, "0", f"{prefix}*")


def redis(*words: str) -> str:
    """Run one command in the test database; return the answer as Redis writes it."""
    with socket.create_connection(REDIS, timeout=3) as client, client.makefile("rwb") as stream:
        for command in (("SELECT", str(REDIS_DB)), words, ("QUIT",)):
            encoded = [word.encode() for word in command]
            stream.write(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded))
        stream.flush()
        return stream.read().decode(errors="replace")
