"""Internal: many steps on both sides: random walks, tours of whole spaces, what is forbidden, what was covered."""
