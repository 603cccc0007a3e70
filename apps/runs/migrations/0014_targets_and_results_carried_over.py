"""Agents' targets get the filesystem that their newest run recorded. Finished runs whose result is not read yet are being read, or given up."""

from django.db import migrations

# Where no run has recorded one it stays unknown until the host's next report.
LIES_ON = """
UPDATE inventory_target target SET lies_on = jsonb_strip_nulls(jsonb_build_object(
    'type', nullif(newest.filesystem ->> 'type', ''), 'uuid', nullif(newest.filesystem ->> 'uuid', ''),
    'source', nullif(newest.filesystem ->> 'device_name', ''), 'mount_point', nullif(newest.filesystem ->> 'mount_point', '')))
FROM (
    SELECT DISTINCT ON (run.target_id) run.target_id, snapshot.content -> 'filesystem' AS filesystem
    FROM runs_run run JOIN inventory_snapshot snapshot ON snapshot.id = run.snapshot_id
    WHERE run.origin = 'dispatched' AND run.target_id IS NOT NULL
    ORDER BY run.target_id, run.id DESC
) newest
WHERE newest.target_id = target.id AND target.is_agents_own AND target.lies_on = '{}'
    AND jsonb_typeof(newest.filesystem) = 'object' AND newest.filesystem ->> 'type' <> ''
"""
READING = """
UPDATE runs_run SET state = 'running' WHERE state = 'finished' AND id IN (
    SELECT run_id FROM runs_attempt
    WHERE state = 'finished' AND manifest IS NOT NULL AND ingested_at IS NULL AND tries < 3)
"""
GIVEN_UP = """
WITH dead AS (
    UPDATE runs_attempt SET read_problem = 'reading it was cut short, or failed, 3 times. Its bytes are kept'
    WHERE state IN ('finished', 'failed', 'interrupted', 'cancelled') AND manifest IS NOT NULL AND ingested_at IS NULL AND tries >= 3
    RETURNING run_id, state
)
UPDATE runs_run SET
    state = CASE WHEN runs_run.state = 'finished' THEN 'failed' ELSE runs_run.state END,
    problem = CASE WHEN problem = '' THEN 'Its result arrived, but reading it was cut short, or failed, 3 times. Its bytes are kept.'
        ELSE problem END
WHERE id IN (SELECT run_id FROM dead)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0013_place_limit_and_dead_letters"),
        ("inventory", "0009_targets_by_filesystem"),
    ]

    operations = [
        migrations.RunSQL(LIES_ON, migrations.RunSQL.noop),
        migrations.RunSQL(READING, migrations.RunSQL.noop),
        migrations.RunSQL(GIVEN_UP, migrations.RunSQL.noop),
    ]
