"""Internal: what a search exercised: how often a guard, a branch, an assignment or a premise mattered, or ever held."""
