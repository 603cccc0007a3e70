from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inventory", "0009_targets_by_filesystem")]

    operations = [
        migrations.AlterField(
            model_name="target",
            name="is_agents_own",
            field=models.BooleanField(
                default=False, help_text="a directory that the host's agent offers; runs go only there"
            ),
        ),
    ]
