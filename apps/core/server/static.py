"""Storage of static files with hashed names and compressed copies, quick enough for a first start."""

from typing import Any

import brotli
from django.contrib.staticfiles.storage import StaticFilesStorage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

QUALITY = 5  # 11, the default, takes ten times as long on a first start for a tenth less to send


class QuickCompressor(Compressor):  # type: ignore[misc]
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return bytes(brotli.compress(data, quality=QUALITY))


class Remembering:
    """Every page asks for the addresses of a dozen files, which stay the same as long as the process lives."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.urls: dict[str, str] = {}

    def url(self, name: str | None, **how: Any) -> str:
        if how or not name:
            return str(super().url(name, **how))  # type: ignore[misc]
        if name not in self.urls:
            self.urls[name] = super().url(name)  # type: ignore[misc]
        return self.urls[name]


class PlainStaticFiles(Remembering, StaticFilesStorage):
    """Under their own names: for tests, and for who changes them."""


class StaticFiles(Remembering, CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    # Imported modules too are named by their content, and kept for good: those of our own. Some libraries' import what they did not bring.
    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )

    def create_compressor(self, **kwargs: Any) -> Compressor:
        return QuickCompressor(**kwargs)
