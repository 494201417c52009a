"""How deep hypothesis looks: few examples that are the same each time, or many new ones where asked for.

`PROPERTY_EXAMPLES=200 pytest tests/property` draws so many times more, at random.
"""
