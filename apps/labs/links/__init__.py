"""Links that work once: invitations to a lab and renewals of a password."""
