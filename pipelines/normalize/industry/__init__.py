"""Industry: the industry of a filer at each filing, and the line items that apply to it."""
