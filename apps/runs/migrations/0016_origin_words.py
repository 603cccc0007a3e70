from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0015_fencing_token_by_the_database")]
    operations = [
        migrations.AlterField(
            model_name="run",
            name="origin",
            field=models.CharField(
                choices=[("dispatched", "agent"), ("uploaded", "uploaded"), ("published", "published report")],
                max_length=12,
            ),
        )
    ]
