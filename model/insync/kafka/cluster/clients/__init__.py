"""Internal: producers, a consumer, and who else appends records and waits for them."""
