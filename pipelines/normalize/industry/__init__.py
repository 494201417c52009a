"""Industries of filers, and the line items that apply to each."""
