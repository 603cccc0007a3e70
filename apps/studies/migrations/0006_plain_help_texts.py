"""Help texts alone: nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0005_labels_of_plan_rows_by_identity'),
    ]

    operations = [
        migrations.AlterField(
            model_name='plan',
            name='stopping',
            field=models.JSONField(help_text='the typed rule'),
        ),
    ]
