"""Internal: the answers to Kafka's questions as text and as JSON.

`ask` and `ask_json` show the answer for a cluster. Its parts are `settings` (the head), `verdict`, `cause`,
`what_to_change`, and `availability` for when writes stop. `defects` shows entries of the catalogue, and `findings` the
finding that an entry belongs to: its page, its ticket and the status of its fix. `live` shows what is in force in a
cluster. `json_types` has the types of JSON.
"""
