"""The REST interface: addresses, authentication, errors, renderers and the resources."""
