"""Access control: accounts, subscriptions, API keys, sign-ins and rate limits."""
