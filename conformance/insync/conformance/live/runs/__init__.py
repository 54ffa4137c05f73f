"""Internal: what a run of a cluster has shown: recorded, and laid beside the model.

`recorder` records a run as `run_events`; `metadata_run` makes one of the metadata log of another cluster, with
`broker_logs`. `validation` decides whether a run is a behaviour of the model: `run_model` is the model, `run_release`
the releases to try, and `run_steps` has the steps beside the events, with `decision_steps` for the controller,
`fetches` for followers and `moving` for logs that change their directory.
"""
