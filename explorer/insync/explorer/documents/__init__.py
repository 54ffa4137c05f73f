"""Internal: results as text, as JSON and as HTML, a module for each verb."""
