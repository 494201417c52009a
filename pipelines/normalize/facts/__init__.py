"""Filed facts: typed, in one currency, in filing order, and what each filing states with them."""
