"""Internal: from the methods of an author to a program of guards and assignments."""
