from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('comparison', '0006_references_by_identity'),
    ]

    operations = [
        migrations.AddField(
            model_name='claim',
            name='evidence',
            field=models.JSONField(default=dict, help_text='confounders and caveats of the samples, as Compare finds them'),
        ),
    ]
