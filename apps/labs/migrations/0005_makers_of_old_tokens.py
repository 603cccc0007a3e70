"""Who made the tokens that there are, as far as the trail knows; and addresses that accounts had named without ever proving them go."""

from datetime import timedelta

from django.db import migrations
from django.db.models import F, Q
from django.utils import timezone

AT_ONCE = timedelta(seconds=10)  # a token and its row in the trail are written one after the other
COMMAND_LINE = "command line"


def name_makers(apps, schema_editor):
    Token = apps.get_model("labs", "Token")
    Event = apps.get_model("labs", "AuditEvent")
    for token in Token._base_manager.filter(made_by=""):
        near = Q(at__gte=token.created_at - AT_ONCE, at__lte=token.created_at + AT_ONCE)
        events = Event._base_manager.filter(near, lab_id=token.lab_id, act="token created", subject=token.name)
        names = set(events.values_list("who", flat=True))
        if len(names) == 1:
            _name(apps, token, names.pop())


def _name(apps, token, who):
    """The trail has a person's full name, or else the address."""
    User = apps.get_model("labs", "User")
    Member = apps.get_model("labs", "Member")
    token.made_by = who
    people = [] if who == COMMAND_LINE else [
        person
        for person in User._base_manager.filter(Q(email=who) | Q(first_name__gt="") | Q(last_name__gt=""))
        if who in (person.email, f"{person.first_name} {person.last_name}".strip())
    ]
    if len(people) == 1:
        token.maker, token.made_by = people[0], people[0].email
        is_member = Member._base_manager.filter(lab_id=token.lab_id, user=people[0]).exists()
        if not is_member and token.revoked_at is None:
            token.revoked_at = timezone.now()
            token.ended_because = f"its maker, {people[0].email}, is no longer a member"
    token.save()


def drop_unproved_addresses(apps, schema_editor):
    EmailAddress = apps.get_model("account", "EmailAddress")
    EmailAddress._base_manager.filter(verified=False).exclude(email=F("user__email")).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("labs", "0004_token_makers_and_attempts"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [
        migrations.RunPython(name_makers, migrations.RunPython.noop),
        migrations.RunPython(drop_unproved_addresses, migrations.RunPython.noop),
    ]
