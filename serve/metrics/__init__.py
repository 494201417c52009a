"""Metrics for operators: counts made while serving, and their exposition in the format of Prometheus."""
