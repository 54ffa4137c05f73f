"""Internal: fixes of Kafka as patches, and Kafka's released jars with one of them in.

`source_files` fetches Kafka's released sources, `unified_diff` applies a patch, `compilers` compiles it, and
`patched_jars` puts the classes into a copy of the jars. `unit_test_runs` does the same with Kafka's test classes, to
which the patches in `unit_tests` add failing tests, and runs them by JUnit's console (`junit_runs`); `recorded_tests`
keeps what came of it. `fixed_trace` is what becomes of a trace in the model that is fixed.
"""
