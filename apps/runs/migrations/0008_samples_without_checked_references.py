"""What stands beside the values now goes from provenance, and with it the rows that say nothing else. References of the hot tables
are held by the code that writes them.
"""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

FORGET = """
DELETE FROM runs_provenance
WHERE quality = 'exact' AND missing_reason = '' AND note = '' AND alternatives = '{}' AND coalesce(low, high, cpu) IS NULL"""


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0007_text_beside_the_value'),
    ]

    operations = [
        migrations.RunSQL(FORGET, migrations.RunSQL.noop),
        migrations.RemoveField(
            model_name='provenance',
            name='artefact',
        ),
        migrations.RemoveField(
            model_name='provenance',
            name='printed',
        ),
        migrations.RemoveField(
            model_name='provenance',
            name='source_line',
        ),
        migrations.AlterField(
            model_name='provenance',
            name='sample',
            field=models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='provenance', serialize=False, to='runs.sample'),
        ),
        migrations.AlterField(
            model_name='sample',
            name='measure',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.measure'),
        ),
        migrations.AlterField(
            model_name='sample',
            name='point',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.point'),
        ),
        migrations.AlterField(
            model_name='sample',
            name='run',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='runs.run'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='run',
            trigger=pgtrigger.compiler.Trigger(name='take_samples_along', sql=pgtrigger.compiler.UpsertTriggerSql(func='\n    DELETE FROM runs_provenance USING runs_sample WHERE sample_id = runs_sample.id AND run_id = OLD.id;\n    DELETE FROM runs_sample WHERE run_id = OLD.id;\n    RETURN NULL;', hash='d0f88e9fef11418065cb3f448b9dd30cc2e63d1f', operation='DELETE', pgid='pgtrigger_take_samples_along_8e197', table='runs_run', when='AFTER')),
        ),
    ]
