"""Destinations and deliveries were tables of `comparison`; they keep their rows."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('comparison', '0007_claim_evidence'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='Delivery',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('payload', models.JSONField(help_text='what a webhook gets; an e-mail says the same in words')),
                        ('state', models.CharField(choices=[('waiting', 'on its way'), ('sent', 'delivered'), ('dead', 'given up')], default='waiting', max_length=8)),
                        ('tries', models.PositiveSmallIntegerField(default=0)),
                        ('next_try', models.DateTimeField(default=django.utils.timezone.now)),
                        ('problem', models.CharField(blank=True, max_length=300)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('sent_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'ordering': ['-id'],
                    },
                ),
                migrations.CreateModel(
                    name='Destination',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.CharField(choices=[('email', 'e-mail'), ('webhook', 'webhook')], max_length=8)),
                        ('name', models.CharField(max_length=120)),
                        ('address', models.CharField(max_length=500)),
                        ('secret', models.CharField(blank=True, help_text='of the HMAC signature; shown once', max_length=80)),
                        ('is_active', models.BooleanField(default=True)),
                        ('created_by', models.CharField(max_length=200)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('last_at', models.DateTimeField(null=True)),
                        ('last_result', models.CharField(blank=True, max_length=300)),
                        ('last_ok', models.BooleanField(null=True)),
                    ],
                    options={
                        'ordering': ['name', 'id'],
                    },
                ),
            ],
            database_operations=[migrations.RunSQL(['ALTER TABLE comparison_destination RENAME TO notifications_destination', 'ALTER TABLE comparison_delivery RENAME TO notifications_delivery'], ['ALTER TABLE notifications_destination RENAME TO comparison_destination', 'ALTER TABLE notifications_delivery RENAME TO comparison_delivery'])],
        ),
    ]
