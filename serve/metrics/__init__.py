"""Metrics for operators: what is counted while serving, and its exposition in the format of Prometheus."""
