"""Fields and small shapes that serializers of several resources share."""

import json
from typing import Any

from django.urls import reverse
from rest_framework import serializers


class NumberField(serializers.FloatField):
    """A number in base units, as it is stored: whole ones stay whole."""

    def to_representation(self, value: object) -> Any:
        return value


class TextField(serializers.CharField):
    """A text of a body. A number is refused, which REST framework would take and store as its digits."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError(f"found {show(data)}, expected a text")
        return str(super().to_internal_value(data))


def show(value: Any) -> str:
    """Return a value of a body as an error quotes it: as JSON has it, at most 80 characters of it."""
    return json.dumps(value, ensure_ascii=False, default=str)[:80]


class LinkField(serializers.URLField):
    """The absolute address of the object's resource or page, by the name of its route.

    Unlike `HyperlinkedIdentityField` it is the same whatever `?format=` the request has.
    """

    def __init__(self, route: str, lookup: str = "pk", **options: Any) -> None:
        super().__init__(source="*", read_only=True, **options)
        self.route, self.lookup = route, lookup

    def to_representation(self, value: object) -> str:
        address = reverse(self.route, args=[getattr(value, self.lookup)])
        return str(self.context["request"].build_absolute_uri(address))


class PageField(serializers.URLField):
    """The absolute address of the page that shows the object to people."""

    def __init__(self, **options: Any) -> None:
        super().__init__(source="*", read_only=True, **options)

    def to_representation(self, value: Any) -> str:
        return str(self.context["request"].build_absolute_uri(value.get_absolute_url()))


class FilterSerializer(serializers.Serializer[Any]):
    """A filter of a comparison, as its address has it."""

    name = serializers.CharField()
    value = serializers.CharField()
