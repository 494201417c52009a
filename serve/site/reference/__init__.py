"""The pages about the service: reference of the interface, dictionary, errors, downloads, quality, changelog."""
