"""The commands of the service, and its worker processes."""
