"""The tables of a published build, and what is generated from schema and rules."""
