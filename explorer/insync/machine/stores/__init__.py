"""Internal: stores of visited states, in memory and on disk.

`store` is the protocol of the three stores. `hash_table` keeps whole states in memory. `compressed` keeps codes of
states in memory: `collapse` makes the codes, `quotient_table` is the set of those that were found, and `level_file`
keeps the codes of earlier levels. `external` keeps each level as a sorted file: `row_encoding` makes rows of states,
`sorted_rows` sorts a buffer of rows, `external_sort` merges what overflows it, `known_files` keeps the files to compare
with few, `sorted_file` is the file format, and `whole_files` writes files that are whole or absent. `run_folder` is the
folder of a run directory, and `run_files` has the sorted files of the states in it.
"""
