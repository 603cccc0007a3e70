"""The words of everything that can be found, one index per kind. They are written out here: what `kinds.py` says later needs a migration
of its own, and a test holds both together."""

from django.db import migrations

FUNCTIONS = """
CREATE FUNCTION search_words(text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT pg_catalog.array_to_tsvector(pg_catalog.array_remove(pg_catalog.string_to_array(
        pg_catalog.regexp_replace(pg_catalog.lower($1), '[^[:alnum:]]+', ' ', 'g'), ' '), ''))
$$;
CREATE FUNCTION search_query(text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT pg_catalog.string_agg('''' || word || ''':*', ' & ')::tsquery FROM pg_catalog.unnest(pg_catalog.string_to_array(
        pg_catalog.regexp_replace(pg_catalog.lower($1), '[^[:alnum:]]+', ' ', 'g'), ' ')) word WHERE word <> ''
$$;
"""
WORDS = {
    "inventory_host": ("name", "fqdn", "serial", "vendor", "model", "os", "kernel", "cpu_model", "role", "labels"),
    "inventory_controller": ("name", "vendor", "model", "model_behind", "serial", "address", "firmware", "labels"),
    "inventory_disk": ("device_name", "vendor", "model", "serial", "wwn", "firmware", "enclosure", "labels"),
    "inventory_array": ("name", "device_name", "round", "uuid", "software", "labels"),
    "inventory_filesystem": ("type", "mount_point", "device_name", "uuid", "labels"),
    "inventory_target": ("name", "path", "labels"),
    "inventory_nic": ("name", "vendor", "model", "mac", "driver", "address", "labels"),
    "inventory_switch": ("name", "vendor", "model", "labels"),
    "inventory_enclosure": ("name", "vendor", "model", "serial", "labels"),
    "inventory_storagepath": ("name", "labels"),
    "runs_run": ("id", "tool", "tool_version", "facts>host", "facts>configuration", "labels"),
    "runs_workload": ("tool", "spec"),
    "studies_study": ("slug", "title", "title_english", "site", "year"),
    "uploads_uploadedfile": ("name",),
    "comparison_savedcomparison": ("name",),
}


def column(name):
    plain, _, key = name.partition(">")
    as_text = f"""coalesce("{plain}" ->> '{key}', '')"""
    return as_text if key else f'"{plain}"::text'


def made(table, names):
    text = " || ' ' || ".join(map(column, names))
    return f'CREATE INDEX "{table}_words" ON "{table}" USING gin (search_words({text}))'


class Migration(migrations.Migration):
    dependencies = [
        ("comparison", "0001_saved_comparison"),
        ("inventory", "0004_network_places_and_differences"),
        ("runs", "0002_fencing_token"),
        ("studies", "0001_initial"),
        ("uploads", "0001_uploads"),
    ]
    operations = [
        migrations.RunSQL(FUNCTIONS, "DROP FUNCTION search_words(text), search_query(text)"),
        *(migrations.RunSQL(made(table, names), f'DROP INDEX "{table}_words"') for table, names in WORDS.items()),
    ]
