"""The kinds of destinations are those of the registry of transports, so that a new one needs no migration."""

from django.db import migrations, models

import apps.notifications.transports


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0002_relations_of_deliveries'),
    ]

    operations = [
        migrations.AlterField(
            model_name='destination',
            name='kind',
            field=models.CharField(choices=apps.notifications.transports.get_choices, max_length=20),
        ),
    ]
