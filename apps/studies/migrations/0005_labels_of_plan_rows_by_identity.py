"""A plan's row is called as its configuration is called now; only a report's plan has words of its own for some."""

from django.db import migrations, models
from django.db.models import F, Q


def keep_own_labels(apps, schema_editor):
    """Rows had a copy of the label from the day on which the plan was written."""
    rows = apps.get_model("studies", "PlanConfiguration").objects.exclude(configuration=None)
    rows.filter(Q(plan__is_from_report=False)).update(own_label="")
    same = rows.filter(own_label=F("configuration__label")).values_list("pk", flat=True)
    rows.filter(pk__in=list(same)).update(own_label="")


class Migration(migrations.Migration):
    dependencies = [("studies", "0004_wording_in_other_languages")]

    operations = [
        migrations.RenameField("planconfiguration", "label", "own_label"),
        migrations.AlterField(
            "planconfiguration",
            "own_label",
            models.CharField(
                blank=True,
                max_length=200,
                help_text="what a report's plan calls it; empty: as the configuration is called",
            ),
        ),
        migrations.RunPython(keep_own_labels, migrations.RunPython.noop),
    ]
