from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0007_refused_hardware")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="polling_until",
            field=models.DateTimeField(
                blank=True, help_text="its poll is held by a web process, at most until then", null=True
            ),
        ),
        migrations.CreateModel(
            name="WorkerHeartbeat",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("answered_at", models.DateTimeField()),
            ],
        ),
    ]
