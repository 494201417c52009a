"""The tables of a published build, and the pages that are generated from schema and rules."""
