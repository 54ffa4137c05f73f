"""The modules of KIP-996 and of KIP-853 as they were published, to the letter, for comparison with TLC.

They are Vanlightly/kafka-tlaplus's kraft_kip_996 and kraft_kip_853. `kraft_996` has what guards read and
`kraft_996_published` also what TLC counts states by; so have `kraft_853` and `kraft_853_published`. `properties` has
what the modules promise. Nothing else imports them, and they do not change: the rows are in tests/parity.
"""
