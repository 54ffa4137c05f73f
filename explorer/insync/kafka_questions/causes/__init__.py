"""Internal: why a promise is broken: the setting, the defect of the release or the limit of the protocol behind it.

`cause` has what a cause is. `diagnosis` finds the causes of broken promises: it tries changes of settings, then what
`releases` has, the fixes of the release's defects and newer releases, and at last a flush of every record.
`changed_searches` has the searches of a changed cluster that these comparisons rest on. `open_defects` searches those
that no release has fixed.
"""
