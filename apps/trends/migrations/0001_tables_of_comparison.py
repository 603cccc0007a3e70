"""Watches, change points, marks and recipients were tables of `comparison`; they keep their rows."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('comparison', '0007_claim_evidence'),
        ('inventory', '0009_targets_by_filesystem'),
        ('labs', '0005_makers_of_old_tokens'),
        ('notifications', '0001_tables_of_comparison'),
        ('runs', '0015_fencing_token_by_the_database'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='Watch',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('refers_to', models.JSONField(blank=True, default=dict, help_text='whose names are in the query, by id')),
                        ('name', models.CharField(max_length=200)),
                        ('query', models.TextField(help_text="what is watched, as a comparison's canonical address")),
                        ('threshold', models.FloatField(default=0.05, help_text='the least change that is told, as a fraction')),
                        ('is_active', models.BooleanField(default=True)),
                        ('created_by', models.CharField(max_length=200)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('due_at', models.DateTimeField(help_text='when it is to be looked at; empty while nothing is new', null=True)),
                        ('evaluated_at', models.DateTimeField(null=True)),
                        ('summary', models.JSONField(default=dict, help_text='of the last look, for lists')),
                        ('drift_told_at', models.DateTimeField(help_text='that it drifts for the worse; empty where it does not', null=True)),
                        ('lab', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labs.lab')),
                    ],
                    options={
                        'ordering': ['name', 'id'],
                    },
                ),
                migrations.CreateModel(
                    name='TrendMark',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('at', models.DateTimeField(help_text='the first run at or after it begins a new stretch')),
                        ('text', models.CharField(max_length=300)),
                        ('created_by', models.CharField(max_length=200)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('lab', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labs.lab')),
                        ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                        ('target', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='inventory.target')),
                        ('watch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='marks', to='trends.watch')),
                    ],
                    options={
                        'ordering': ['at', 'id'],
                    },
                ),
                migrations.CreateModel(
                    name='Recipient',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('destination', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recipients', to='notifications.destination')),
                        ('lab', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labs.lab')),
                        ('watch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recipients', to='trends.watch')),
                    ],
                ),
                migrations.CreateModel(
                    name='ChangePoint',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('at', models.DateTimeField(help_text='when the first run after ended')),
                        ('found_at', models.DateTimeField(auto_now_add=True)),
                        ('direction', models.CharField(choices=[('better', 'better'), ('worse', 'worse')], max_length=6)),
                        ('ratio', models.FloatField(help_text='after ÷ before')),
                        ('low', models.FloatField(null=True)),
                        ('high', models.FloatField(null=True)),
                        ('before', models.FloatField(help_text="median, in the metric's base unit")),
                        ('after', models.FloatField()),
                        ('n_before', models.PositiveIntegerField()),
                        ('n_after', models.PositiveIntegerField()),
                        ('facts', models.JSONField(default=list, help_text='what changed with it: [{fact, label, before, after}]')),
                        ('caveats', models.JSONField(default=list, help_text='what speaks against it, in sentences')),
                        ('is_backfill', models.BooleanField(default=False, help_text='was in the data when they came: nobody is told')),
                        ('withdrawn_at', models.DateTimeField(help_text='when the data, or a mark, no longer showed it', null=True)),
                        ('acknowledged_at', models.DateTimeField(null=True)),
                        ('acknowledged_by', models.CharField(blank=True, max_length=200)),
                        ('notified_at', models.DateTimeField(null=True)),
                        ('lab', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labs.lab')),
                        ('run', models.ForeignKey(help_text='the first after', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
                        ('run_before', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                        ('watch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='change_points', to='trends.watch')),
                    ],
                    options={
                        'ordering': ['-at', '-id'],
                    },
                ),
                migrations.AddIndex(
                    model_name='watch',
                    index=models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='watch_due'),
                ),
                migrations.AddConstraint(
                    model_name='trendmark',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('target', None), ('watch__isnull', False)), models.Q(('target__isnull', False), ('watch', None)), _connector='OR'), name='mark_on_one_thing'),
                ),
                migrations.AddConstraint(
                    model_name='recipient',
                    constraint=models.UniqueConstraint(fields=('watch', 'destination'), name='recipient_once'),
                ),
            ],
            database_operations=[migrations.RunSQL(['ALTER TABLE comparison_watch RENAME TO trends_watch', 'ALTER TABLE comparison_trendmark RENAME TO trends_trendmark', 'ALTER TABLE comparison_recipient RENAME TO trends_recipient', 'ALTER TABLE comparison_changepoint RENAME TO trends_changepoint'], ['ALTER TABLE trends_watch RENAME TO comparison_watch', 'ALTER TABLE trends_trendmark RENAME TO comparison_trendmark', 'ALTER TABLE trends_recipient RENAME TO comparison_recipient', 'ALTER TABLE trends_changepoint RENAME TO comparison_changepoint'])],
        ),
    ]
