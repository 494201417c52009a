"""The pages of an account: signing in, the profile with its keys, the watchlist."""
