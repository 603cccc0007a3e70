from tests.shared_world import furnished_copy, furnished_lab

__all__ = ["furnished_copy", "furnished_lab"]
