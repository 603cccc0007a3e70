from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('uploads', '0001_uploads'),
    ]

    operations = [
        migrations.AddField(
            model_name='upload',
            name='joined',
            field=models.TextField(blank=True, help_text='what became of the earlier runs of known files'),
        ),
        migrations.AddField(
            model_name='uploadedfile',
            name='left_out',
            field=models.JSONField(default=list, help_text='[{format, number, digest, span, told, words}]: runs that somebody did not keep'),
        ),
    ]
