"""The SQL statements of a side-by-side table; each is for all its columns at once.

Placeholders in braces: `{chosen}` selects the columns, `{last}` the runs of a column that count, `{told}` their facts, `{wanted}` narrows to
the measures that were asked for, `{runs}` is RUNS.
"""

from functools import lru_cache

# The runs of a target come newest first from the index `run_last_of_target`, their samples from that of `sample_once` alone, which has
# the values. As an array, not a join: the samples of one column are then one walk through the index and one small table of sums.
TARGETS = """(SELECT id FROM inventory_target
    WHERE id = ANY(%(columns)s) AND (%(labs)s::bigint[] IS NULL OR lab_id = ANY(%(labs)s)))"""
LAST_OF_TARGET = """SELECT {of_run} FROM runs_run run WHERE target_id = chosen.id AND state = 'finished'
        ORDER BY finished_at DESC NULLS LAST, id DESC LIMIT %(last)s"""
CONFIGURATIONS = """(SELECT place.id FROM studies_configuration place JOIN studies_study study ON study.id = place.study_id
    WHERE study.slug = %(study)s AND (%(labs)s::bigint[] IS NULL OR study.lab_id = ANY(%(labs)s))
    ORDER BY place.position, place.id LIMIT %(most)s)"""
FOUND = "unnest(%(columns)s::bigint[])"  # which came out of the scope
LAST_OF_CONFIGURATION = """SELECT {of_run} FROM studies_studyrun place JOIN runs_run run ON run.id = place.run_id
        WHERE place.configuration_id = chosen.id AND run.state = 'finished'"""
SUMS = """
SELECT chosen.id, sums.*, point.file_size, point.block_size, point.threads, point.iodepth
FROM {chosen} AS chosen(id)
CROSS JOIN LATERAL (
    SELECT sample.measure_id, sample.point_id, sample.section,
        count(sample.value)::float8 AS n, (count(*) - count(sample.value))::float8 AS without,
        coalesce(avg(sample.value), 'NaN') AS mean, coalesce(stddev_samp(sample.value), 'NaN') AS stdev,
        coalesce(min(sample.value), 'NaN') AS low, coalesce(max(sample.value), 'NaN') AS high,
        coalesce(avg(ln(CASE WHEN sample.value > 0 THEN sample.value END)), 'NaN') AS log_mean,
        coalesce(var_samp(ln(CASE WHEN sample.value > 0 THEN sample.value END)), 0) AS log_variance
    FROM runs_sample sample
    WHERE sample.run_id = ANY(ARRAY({last})) {wanted}
    GROUP BY sample.measure_id, sample.point_id, sample.section
) AS sums
JOIN runs_point point ON point.id = sums.point_id"""
# Of samples without a value: few have any, and looking for them costs the walk through the index alone.
BOUNDS = """
SELECT chosen.id, sample.measure_id, sample.point_id, sample.section, min(provenance.low), max(provenance.high)
FROM {chosen} AS chosen(id)
JOIN runs_sample sample ON sample.run_id = ANY(ARRAY({last}))
JOIN runs_provenance provenance ON provenance.sample_id = sample.id
WHERE sample.value IS NULL {wanted}
GROUP BY chosen.id, sample.measure_id, sample.point_id, sample.section"""
# Of cells with one sample, which is what a tool printed: the index does not have its text, so only their columns are walked.
PRINTED = """
SELECT chosen.id, sample.measure_id, sample.point_id, sample.section, min(sample.run_id), min(sample.printed), min(sample.source_line)
FROM {chosen} AS chosen(id)
JOIN runs_sample sample ON sample.run_id = ANY(ARRAY({last}))
WHERE true {wanted}
GROUP BY chosen.id, sample.measure_id, sample.point_id, sample.section
HAVING count(*) = 1 AND count(sample.value) = 1"""
# All of them, there are as many as operations times metrics: their words beside every sum would take longer. Behind the sums, so that a
# measure which came meanwhile is among them.
MEASURES = "SELECT id, operation, metric FROM runs_measure"
# Of every run that counts: RAM; of it what its file went through, 0 for O_DIRECT; and how large the plan asks a file to be beside that. The
# words of `caveats.ram_cache` and `planned`, which a test holds this against. OFFSET 0 keeps what is computed once from being computed again.
RUNS = """SELECT id, finished_at, ram, cached, coalesce(cached * multiple, 0) AS asked FROM (
    SELECT id, finished_at, ram, coalesce(CASE WHEN direct IN ('1', 'true') OR sync = 'direct' THEN 0 ELSE ram END, 0) AS cached,
        CASE WHEN step.run_id IS NOT NULL THEN (
            SELECT multiple FROM ({multiples}) AS guard WHERE guard.row_id = step.row_id)
        WHEN place.run_id IS NOT NULL THEN (
            SELECT min(multiple) FROM ({multiples}) AS guard WHERE guard.configuration_id = place.configuration_id)
        END AS multiple
    FROM (
        SELECT id, finished_at, facts->>'direct' AS direct, facts->>'sync' AS sync,
            CASE WHEN jsonb_typeof(facts->'ram') = 'number' THEN least((facts->>'ram')::numeric, 1e30)::float8 END AS ram
        FROM ({told} OFFSET 0) AS told
        OFFSET 0
    ) AS run
    LEFT JOIN studies_plannedrun step ON step.run_id = run.id
    LEFT JOIN studies_studyrun place ON place.run_id = run.id
    OFFSET 0
) AS held OFFSET 0"""
TOLD = "run.id, run.finished_at, run.labels || run.facts AS facts"
MULTIPLES = """SELECT line.id AS row_id, line.configuration_id,
    (parameters->>'factor')::float8 * (1 - coalesce((parameters->>'tolerance')::float8, 0)) AS multiple
    FROM studies_planconfiguration line JOIN studies_guard ON studies_guard.plan_id = line.plan_id AND kind = 'cache_rule'"""
MEMORY = """SELECT (array_agg(ram ORDER BY finished_at DESC NULLS LAST, id DESC))[1], coalesce(max(cached), 0), coalesce(max(asked), 0),
    coalesce(min(cached) = max(cached) AND min(asked) = max(asked), true) FROM ({runs}) AS run"""
TARGET_COLUMNS = """
SELECT chosen.id, memory.*, host.name, chosen.name
FROM inventory_target chosen JOIN inventory_host host ON host.id = chosen.host_id CROSS JOIN LATERAL ({memory}) AS memory
WHERE chosen.id = ANY(%(columns)s) AND (%(labs)s::bigint[] IS NULL OR chosen.lab_id = ANY(%(labs)s))"""
CONFIGURATION_COLUMNS = """
SELECT chosen.id, memory.*, chosen.label
FROM studies_configuration chosen JOIN studies_study study ON study.id = chosen.study_id CROSS JOIN LATERAL ({memory}) AS memory
WHERE study.slug = %(study)s AND (%(labs)s::bigint[] IS NULL OR study.lab_id = ANY(%(labs)s))
ORDER BY chosen.position, chosen.id LIMIT %(most)s"""
# Of columns whose runs differ in that, cell by cell: most have none.
MEMORY_OF_CELLS = """
SELECT chosen.id, sample.measure_id, sample.point_id, sample.section, max(run.cached), max(run.asked)
FROM {chosen} AS chosen(id) CROSS JOIN LATERAL ({runs}) AS run
JOIN runs_sample sample ON sample.run_id = run.id
WHERE true {wanted}
GROUP BY chosen.id, sample.measure_id, sample.point_id, sample.section"""
# The runs of each column by what is known of them; figures of one run alone (`activity`) tell none apart.
KINDS = """
SELECT chosen.id, array_agg(run.id), run.labels, run.facts - %(activity)s::text[], run.tool, run.tool_version, host.name, target.name,
    workload.spec
FROM {chosen} AS chosen(id)
JOIN runs_run run ON run.id = ANY(ARRAY({last}))
LEFT JOIN inventory_host host ON host.id = run.host_id
LEFT JOIN inventory_target target ON target.id = run.target_id
LEFT JOIN runs_workload workload ON workload.id = run.workload_id
GROUP BY chosen.id, run.labels, run.facts - %(activity)s::text[], run.tool, run.tool_version, host.name, target.name, workload.spec"""
# Of columns whose runs are of several configurations, cell by cell: how many, and which where it is one.
KINDS_OF_CELLS = """
SELECT chosen.id, sample.measure_id, sample.point_id, sample.section, count(DISTINCT kind.number), min(kind.number)
FROM {chosen} AS chosen(id)
JOIN runs_sample sample ON sample.run_id = ANY(ARRAY({last}))
JOIN unnest(%(kind_runs)s::bigint[], %(kinds)s::bigint[]) AS kind(run, number) ON kind.run = sample.run_id
WHERE sample.value IS NOT NULL {wanted}
GROUP BY chosen.id, sample.measure_id, sample.point_id, sample.section"""
# What their parts are called, of tables that have several. Without options, which nobody needs here.
PARTS = """
SELECT DISTINCT chosen.id,
    (SELECT coalesce(jsonb_object_agg(key, jsonb_build_object('name', value->'name')), '{{}}')
        FROM jsonb_each(run.sections) WHERE jsonb_exists(value, 'name')) AS sections,
    coalesce((SELECT jsonb_agg(jsonb_build_object('name', job->'name')) FROM jsonb_path_query(workload.spec, '$.jobs[*]') AS job), '[]') AS jobs
FROM {chosen} AS chosen(id)
JOIN runs_run run ON run.id = ANY(ARRAY({last}))
LEFT JOIN runs_workload workload ON workload.id = run.workload_id"""
# Of columns whose runs have parts, every sample: which jobs ran together, and what they did then, no sum of the database's knows.
PART_SAMPLES = """
SELECT chosen.id, sample.id, sample.run_id, sample.measure_id, sample.point_id, sample.section, sample.value,
    point.file_size, point.block_size, point.threads, point.iodepth, run.tool, run.sections,
    coalesce((SELECT jsonb_agg(jsonb_build_object('name', job->'name')) FROM jsonb_path_query(workload.spec, '$.jobs[*]') AS job), '[]')
FROM {chosen} AS chosen(id)
JOIN runs_run run ON run.id = ANY(ARRAY({last}))
JOIN runs_sample sample ON sample.run_id = run.id
JOIN runs_point point ON point.id = sample.point_id
LEFT JOIN runs_workload workload ON workload.id = run.workload_id
WHERE sample.measure_id NOT IN (SELECT id FROM runs_measure WHERE operation = 'disk') {wanted}
ORDER BY sample.run_id, sample.id"""
PART_SAMPLE_COLUMNS = (
    "column", "id", "run_id", "measure_id", "point_id", "section", "value",
    "point__file_size", "point__block_size", "point__threads", "point__iodepth", "run__tool", "run__sections", "jobs",
)  # fmt: skip
# Disks count by themselves; the note of a sample names the disk.
DISKS = """
SELECT DISTINCT chosen.id, sample.run_id, sample.section, provenance.note
FROM {chosen} AS chosen(id)
JOIN runs_sample sample ON sample.run_id = ANY(ARRAY({last}))
JOIN runs_provenance provenance ON provenance.sample_id = sample.id
WHERE sample.measure_id IN (SELECT id FROM runs_measure WHERE operation = 'disk') {wanted}"""
WANTED = """AND sample.measure_id IN (SELECT id FROM runs_measure WHERE
        (%(no_metrics)s OR metric = ANY(%(metrics)s)) AND (%(no_operations)s OR operation = ANY(%(operations)s)))"""


@lru_cache
def written(statement: str, *, of_study: bool, wanted: bool, is_found: bool = False) -> str:
    """Return a statement with its placeholders filled.

    With `is_found` the columns are known, and their ids are the value `columns`; else they are selected in the scope.
    """
    chosen = FOUND if is_found else CONFIGURATIONS if of_study else TARGETS
    last = LAST_OF_CONFIGURATION if of_study else LAST_OF_TARGET
    runs = RUNS.format(multiples=MULTIPLES, told=last.format(of_run=TOLD))
    parts = {"chosen": chosen, "last": last.format(of_run="run.id"), "runs": runs, "memory": MEMORY.format(runs=runs)}
    return statement.format(**parts, wanted=WANTED if wanted else "")
