from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "apps.inventory"

    def ready(self) -> None:
        import apps.inventory.discovery.tools  # noqa: F401  registers what the inventory reads
