"""Internal: results as text, as JSON and as HTML for a notebook, a module for each verb.

`document` says what each of them has: `check` (with `statistics`), `simulate`, `liveness`, `why`, `prove`, `agree`,
`diff` and `mutate`; `tour` has HTML alone. `json_types` has the types of JSON. `text`, `html` and `traces` have what
several share, and `models` shows models with their bounds and settings.
"""
