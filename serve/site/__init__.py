"""The web pages for people, outside of the versioned path of the interface."""
