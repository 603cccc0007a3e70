"""The resources of the REST interface: a module each, with its serializers and its view sets."""
