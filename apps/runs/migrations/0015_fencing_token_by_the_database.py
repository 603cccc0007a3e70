from django.db import migrations, models

import apps.runs.models.attempt


class Migration(migrations.Migration):
    dependencies = [("runs", "0014_targets_and_results_carried_over")]

    operations = [
        migrations.AlterField(
            model_name="attempt",
            name="token",
            field=models.BigIntegerField(db_default=apps.runs.models.attempt.NextFencingToken(), unique=True),
        ),
    ]
