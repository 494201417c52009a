"""The pages and files of several companies: the list, search, changes, rules."""
