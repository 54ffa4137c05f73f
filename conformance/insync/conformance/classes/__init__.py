"""Internal: Kafka's own classes, one step at a time: the harness in `java`, its build, and its process.

`sources` fits the Java sources to a release, `compiled` keeps class files in the cache, and `java_process` is the
running process, whose unexpected end `java_ends` puts into words. `subject` is a running harness or a recording of
one, `harness` the one of brokers and their controller. `observation` is Kafka's state after a command, and
`self_check` takes every command once.
"""
