"""The eleven line items, their legs, and the reasons for gaps."""
