"""What is counted of a part in the lists, in the list's own query."""

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.inventory.models import Disk


def disks_inside() -> Coalesce:
    """For `annotate`: how many disks sit in an enclosure. Disks name their enclosure, and its name is one in its host."""
    inside: QuerySet[Disk] = Disk.objects.filter(host=OuterRef("host"), enclosure=OuterRef("name"), is_present=True)
    counted = inside.order_by().values("enclosure").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted), 0)
