from tests.studies.loading import all_loaded, published

__all__ = ["all_loaded", "published"]
