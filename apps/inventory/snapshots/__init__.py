"""What was true of a target when a run began, frozen, and what differs between two such states."""
