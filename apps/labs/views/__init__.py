"""Views of labs, accounts, invitations and renewals."""
