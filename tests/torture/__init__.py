"""Faults at length, against real processes: `make torture`. Not part of the test suite."""
