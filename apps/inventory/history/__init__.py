"""What changed in the inventory, who did it, and how it is taken back."""
