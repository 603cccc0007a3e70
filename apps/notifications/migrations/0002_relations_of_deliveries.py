"""The relations of deliveries, which are in the tables already."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('labs', '0005_makers_of_old_tokens'),
        ('notifications', '0001_tables_of_comparison'),
        ('trends', '0001_tables_of_comparison'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField(
                    model_name='delivery',
                    name='change_point',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='trends.changepoint'),
                ),
                migrations.AddField(
                    model_name='delivery',
                    name='lab',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labs.lab'),
                ),
                migrations.AddField(
                    model_name='delivery',
                    name='watch',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='trends.watch'),
                ),
                migrations.AddField(
                    model_name='destination',
                    name='lab',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labs.lab'),
                ),
                migrations.AddField(
                    model_name='delivery',
                    name='destination',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='notifications.destination'),
                ),
                migrations.AddConstraint(
                    model_name='destination',
                    constraint=models.UniqueConstraint(fields=('lab', 'kind', 'address'), name='destination_once_per_lab'),
                ),
                migrations.AddIndex(
                    model_name='delivery',
                    index=models.Index(condition=models.Q(('state', 'waiting')), fields=['next_try'], name='delivery_due'),
                ),
                migrations.AddConstraint(
                    model_name='delivery',
                    constraint=models.UniqueConstraint(fields=('destination', 'change_point'), name='change_point_told_once'),
                ),
            ],
        ),
    ]
