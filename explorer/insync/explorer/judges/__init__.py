"""Internal: other people's checkers as judges: an exported model is given to them, and what they say is an opinion."""
