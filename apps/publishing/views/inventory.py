"""Hosts and targets."""

from typing import Any

from rest_framework import serializers

from apps.inventory.ceiling_now import ceiling_now
from apps.inventory.models import Target
from apps.lib.reader_base import base
from apps.publishing import schema, shown
from apps.publishing.views import parts


class TargetWithCeiling(schema.Target):
    ceiling = serializers.DictField(
        allow_null=True,
        help_text="`{read, write, unknown}`; of each direction the `bandwidth` (bytes/s) that the topology can carry at "
        "most, the part it is `decided_by`, and all `parts` with their `arithmetic`, in MiB/s for `?base=1024`",
    )


def _with_ceiling(found: Target) -> dict[str, Any]:
    """With the bound that the topology under it sets; null where its arrays lie on themselves."""
    ceiling = ceiling_now(found)
    return shown.target(found) | {"ceiling": ceiling.as_json(base()) if ceiling else None}


_of_host = parts.Beside(data=lambda host: schema.HostShape(host).data)  # as it was before hosts could be written
hosts = parts.listing("host", _of_host)
host = parts.single("host", _of_host)
targets = parts.listing("target", parts.Beside(schema.Target, shown.target, ("host",)))
target = parts.single("target", parts.Beside(TargetWithCeiling, _with_ceiling, ("host",), "TargetWithCeiling"))
