"""Internal: programs of others that insync starts, which end when insync ends, however that is."""
