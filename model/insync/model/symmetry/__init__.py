"""Internal: members of a sort that may be exchanged, and expressions with their members exchanged."""
