"""The interface below /v1: endpoints, parameters, models, and their description."""
