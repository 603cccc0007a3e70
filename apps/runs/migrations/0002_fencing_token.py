"""The sequence that fencing tokens come from: one for all labs and hosts, so a newer attempt always has the greater token."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]

    operations = [
        migrations.RunSQL("CREATE SEQUENCE runs_fencing_token AS bigint", "DROP SEQUENCE runs_fencing_token"),
    ]
