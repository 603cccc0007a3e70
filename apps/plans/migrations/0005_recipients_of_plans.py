"""Who is told of a schedule's runs follows the plan from now on, whoever starts it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('labs', '0007_answers_of_idempotency_keys'),
        ('notifications', '0003_kinds_from_the_registry'),
        ('plans', '0004_recipients_of_schedules'),
        ('studies', '0011_question_of_a_plan'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='schedulerecipient',
            name='schedule_recipient_once',
        ),
        migrations.RenameModel(
            old_name='ScheduleRecipient',
            new_name='PlanRecipient',
        ),
        # A schedule has the id of its plan, so the numbers in the column stay.
        migrations.RenameField(
            model_name='planrecipient',
            old_name='schedule',
            new_name='plan',
        ),
        migrations.AlterField(
            model_name='planrecipient',
            name='plan',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recipients', to='studies.plan'),
        ),
        migrations.AlterField(
            model_name='planrecipient',
            name='destination',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plan_recipients', to='notifications.destination'),
        ),
        migrations.AddConstraint(
            model_name='planrecipient',
            constraint=models.UniqueConstraint(fields=('plan', 'destination'), name='plan_recipient_once'),
        ),
        migrations.AddField(
            model_name='execution',
            name='start_checked_at',
            field=models.DateTimeField(blank=True, help_text='when it was looked whether any of its runs had begun in time; null: not yet', null=True),
        ),
        migrations.AddField(
            model_name='planschedule',
            name='reason',
            field=models.CharField(blank=True, db_default='', default='', help_text='why it has paused itself; empty where a person did', max_length=500),
        ),
    ]
