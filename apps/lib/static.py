"""Static files: hashed names, and compressed copies that do not keep a first start waiting."""

from typing import Any

import brotli
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

QUALITY = 5  # 11, the default, takes ten times as long on a first start for a tenth less to send


class QuickCompressor(Compressor):  # type: ignore[misc]
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return bytes(brotli.compress(data, quality=QUALITY))


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    # Imported modules too are named by their content, and kept for good: those of our own. Some libraries' import what they did not bring.
    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )

    def create_compressor(self, **kwargs: Any) -> Compressor:
        return QuickCompressor(**kwargs)
