from typing import Any

from django.db import migrations, models


def carry_over(apps: Any, schema_editor: Any) -> None:
    """Make the one directory that a host reported the only one of its list."""
    agents = apps.get_model("agents", "Agent")._base_manager
    for agent in agents.exclude(directory={}).only("directory"):
        agents.filter(pk=agent.pk).update(directories=[agent.directory])


class Migration(migrations.Migration):
    dependencies = [("agents", "0008_held_polls_and_dispatcher")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="directories",
            field=models.JSONField(
                default=list,
                help_text="where its test directories lie, as the host last reported: path, root, type, source, uuid, quota_bytes …",
            ),
        ),
        migrations.AddField(
            model_name="agent",
            name="wanted_directories",
            field=models.JSONField(
                default=list,
                help_text="paths of the lab's targets below those of agent.conf, which its polls report as well",
            ),
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RemoveField(model_name="agent", name="directory"),
    ]
