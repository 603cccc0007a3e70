"""The number that runs of one configuration share, so that a lab's runs are grouped without reading their facts.

Comparing the facts of 100,000 runs takes PostgreSQL about a second; comparing numbers takes a tenth of that
(`docs/adr/0050-runs-carry-the-hash-of-their-configuration.md`).
"""

from typing import Any

from django.db.models import BigIntegerField, F, Func

from apps.runs.activity import ACTIVITY

# Facts that describe one run and not its configuration, by the names that tools and people use most. The list only has
# to keep the groups few: what it lacks splits a group, and whoever reads the groups joins them again. The column of
# existing databases changes only with a migration that drops it and adds it again.
OF_ONE_RUN = (
    *sorted(ACTIVITY), "batch_id", "comment", "date", "elapsed", "iteration", "job_id", "note", "notes", "pid",
    "rand_seed", "randseed", "random_seed", "remark", "rep", "repetition", "run", "run_id", "run_number", "seed",
    "sha256", "time", "timestamp", "upload", "uuid",
)  # fmt: skip


class ConfigurationKey(Func):
    """A 64-bit hash of a run's facts, labels, tool, tool version, workload, host and target.

    Only functions that PostgreSQL calls immutable, as a generated column must be. The JSON is hashed as text:
    `jsonb_hash_extended` rotates by one bit an item, so that two equal values 16 keys apart cancel each other.
    """

    output_field = BigIntegerField()

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> tuple[str, Any]:
        """Return the hash as SQL."""
        facts, labels, tool, version, *references = [
            compiler.compile(expression)[0] for expression in self.get_source_expressions()
        ]
        names = ", ".join(f"'{name}'" for name in OF_ONE_RUN)
        left_out = f"ARRAY[{names}]::text[]"
        texts = [f"({column} - {left_out})::text" for column in (facts, labels)]
        words = [tool, version, *(f"coalesce({one}, 0)::text" for one in references), *texts]
        return f"hashtextextended({' || chr(10) || '.join(words)}, 0)", []


def configuration_key() -> ConfigurationKey:
    """Return the expression for `Run.configuration_key`."""
    return ConfigurationKey(*map(F, ("facts", "labels", "tool", "tool_version", "workload", "host", "target")))
