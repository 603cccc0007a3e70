"""Text, line and artefact of a value stand in its own row; a row of provenance is only there where more is to be said."""

import django.db.models.deletion
from django.db import migrations, models

COPY = """
UPDATE runs_sample SET printed = said.printed, source_line = said.source_line, artefact_id = said.artefact_id
FROM runs_provenance said WHERE said.sample_id = runs_sample.id"""
BACK = """
INSERT INTO runs_provenance (sample_id, printed, quality, missing_reason, note, source_line, artefact_id, alternatives)
SELECT id, printed, 'exact', '', '', source_line, artefact_id, '{}' FROM runs_sample
WHERE printed <> '' OR source_line IS NOT NULL OR artefact_id IS NOT NULL
ON CONFLICT (sample_id) DO UPDATE
SET printed = EXCLUDED.printed, source_line = EXCLUDED.source_line, artefact_id = EXCLUDED.artefact_id"""


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0006_tools_of_a_lab'),
    ]

    operations = [
        migrations.AddField(
            model_name='sample',
            name='printed',
            field=models.CharField(blank=True, default='', help_text="the tool's own text with its unit", max_length=80),
        ),
        migrations.AddField(
            model_name='sample',
            name='source_line',
            field=models.IntegerField(help_text='of the artefact, from 1', null=True),
        ),
        migrations.AddField(
            model_name='sample',
            name='artefact',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.artefact'),
        ),
        migrations.RunSQL(COPY, BACK),
    ]
