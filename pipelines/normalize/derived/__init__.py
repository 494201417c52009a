"""Amounts that no filing states and that the lines of its statements prove."""
