"""Internal: what a run of a cluster has shown: recorded, and laid beside the model."""
