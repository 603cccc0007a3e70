"""Their tables belong to the apps `trends` and `notifications` now."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0002_relations_of_deliveries'),
        ('trends', '0001_tables_of_comparison'),
        ('comparison', '0007_claim_evidence'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField(
                    model_name='delivery',
                    name='change_point',
                ),
                migrations.RemoveField(
                    model_name='delivery',
                    name='destination',
                ),
                migrations.RemoveField(
                    model_name='delivery',
                    name='lab',
                ),
                migrations.RemoveField(
                    model_name='delivery',
                    name='watch',
                ),
                migrations.RemoveField(
                    model_name='destination',
                    name='lab',
                ),
                migrations.RemoveField(
                    model_name='recipient',
                    name='destination',
                ),
                migrations.RemoveField(
                    model_name='recipient',
                    name='lab',
                ),
                migrations.RemoveField(
                    model_name='recipient',
                    name='watch',
                ),
                migrations.RemoveField(
                    model_name='trendmark',
                    name='lab',
                ),
                migrations.RemoveField(
                    model_name='trendmark',
                    name='run',
                ),
                migrations.RemoveField(
                    model_name='trendmark',
                    name='target',
                ),
                migrations.RemoveField(
                    model_name='trendmark',
                    name='watch',
                ),
                migrations.RemoveField(
                    model_name='watch',
                    name='lab',
                ),
                migrations.DeleteModel(
                    name='ChangePoint',
                ),
                migrations.DeleteModel(
                    name='Delivery',
                ),
                migrations.DeleteModel(
                    name='Destination',
                ),
                migrations.DeleteModel(
                    name='Recipient',
                ),
                migrations.DeleteModel(
                    name='TrendMark',
                ),
                migrations.DeleteModel(
                    name='Watch',
                ),
            ],
        ),
    ]
