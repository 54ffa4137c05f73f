"""Internal: two models side by side: the steps that both take, the first that only one takes, and their states."""
