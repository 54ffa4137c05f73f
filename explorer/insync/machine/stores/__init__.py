"""Internal: stores of visited states, in memory and on disk.

`hash_table` keeps whole states in memory. `compressed` keeps codes of states in memory: `collapse` makes the codes, and
`quotient_table` is the set of those that were found. `external` keeps each level as a sorted file: `row_encoding` makes
rows of states, `sorted_rows` sorts a buffer of rows, `external_sort` merges what overflows it, `known_files` keeps the
files to compare with few, `sorted_file` is the file format, and `whole_files` writes files that are whole or absent.
"""
