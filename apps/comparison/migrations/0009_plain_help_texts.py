"""Help texts alone: nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('comparison', '0008_trends_and_notifications_are_apps'),
    ]

    operations = [
        migrations.AlterField(
            model_name='claim',
            name='definition',
            field=models.JSONField(help_text='the typed form'),
        ),
        migrations.AlterField(
            model_name='claim',
            name='refers_to',
            field=models.JSONField(blank=True, default=dict, help_text='whose names are in the definition, by id'),
        ),
        migrations.AlterField(
            model_name='claim',
            name='sensitivity',
            field=models.JSONField(default=dict, help_text='other readings that would change the verdict'),
        ),
        migrations.AlterField(
            model_name='savedcomparison',
            name='refers_to',
            field=models.JSONField(blank=True, default=dict, help_text='whose names are in the query, by id'),
        ),
        migrations.AlterField(
            model_name='studycomparison',
            name='refers_to',
            field=models.JSONField(blank=True, default=dict, help_text='whose names are in the query, by id'),
        ),
    ]
