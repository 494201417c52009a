"""Who may ask: accounts, subscriptions, API keys and rate limits."""
