"""`./manage.py reparse [--lab …] [--format …] [--keep-new] [--dry-run]`: read uploaded files again, after a parser was improved.

Prints what changed, run by run. Without `--dry-run` the new values take the place of the old ones.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.labs.command_line import tell_of_data_folder
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.uploads.models import UploadedFile
from apps.uploads.reparse.services import reparse


class Command(BaseCommand):
    help = "Read the raw bytes of uploads again with today's parsers, and show what changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--lab", help="the lab's short name; without it, all labs")
        parser.add_argument("--upload", type=int, help="only this upload's files")
        parser.add_argument("--format", help="only files that were recognised as this format")
        parser.add_argument(
            "--keep-new", action="store_true", help="keep newly found runs of files of which somebody kept a part, too"
        )
        tell_of_data_folder(parser)
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        labs = Lab.objects.filter(slug=options["lab"]) if options["lab"] else Lab.objects.all()
        if not labs:
            known = ", ".join(Lab.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no lab {options['lab']!r}. Labs here: {known}.")
        changed = files = 0
        for lab in labs:
            with lab_scope(lab.pk):
                result = UploadedFile.objects.filter(upload__lab=lab).to_read_again()
                for option, field in (("upload", "upload_id"), ("format", "format")):
                    result = result.filter(**{field: options[option]}) if options[option] else result
                files += result.count()
                apply, keep_new = not options["dry_run"], options["keep_new"]
                for change in reparse(result.iterator(chunk_size=100), apply=apply, keep_new=keep_new):
                    changed += 1
                    self.stdout.write(str(change))
        verb = "would change" if options["dry_run"] else "changed"
        self.stdout.write(
            f"{files} files read again, {changed} findings {verb}."
            if changed
            else f"{files} files read again, nothing changed."
        )
