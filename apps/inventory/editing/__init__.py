"""What people and scripts do to the inventory: one set of rules behind the pages and the REST interface."""
