"""Notifications: destinations, deliveries with their tries, and the transports that carry them."""
