"""Filed facts: typing, currency, filing order, and the amounts that each filing states with them."""
