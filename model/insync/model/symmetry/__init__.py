"""Internal: symmetry, that is, members of a sort that may be permuted (scalarsets: Ip and Dill 1996).

`group` has the permutations and their action on states. `renaming` permutes the members in an expression and compares
expressions by normal forms, `gathering` sorted containers by multiset forms. `presence` shows that an expression reads
only cells that are present.
"""
