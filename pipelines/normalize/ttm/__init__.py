"""Values known at a filing, and twelve months made of them."""
