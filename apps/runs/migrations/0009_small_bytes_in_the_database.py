import django.db.models.deletion
from django.db import migrations, models

PACKED_ALREADY = 'ALTER TABLE runs_smallbytes ALTER COLUMN packed SET STORAGE EXTERNAL'
NOT_BACK = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM runs_smallbytes) THEN
        RAISE EXCEPTION 'found artefacts whose bytes lie in runs_smallbytes only; without it they would be lost';
    END IF;
END $$"""


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0008_samples_without_checked_references'),
    ]

    operations = [
        migrations.CreateModel(
            name='SmallBytes',
            fields=[
                ('artefact', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='small', serialize=False, to='runs.artefact')),
                ('packed', models.BinaryField(help_text='zstd')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.RunSQL(PACKED_ALREADY, NOT_BACK),
    ]
