"""What the benchmarks share: a broker of either kind, a pipeline in this process, and the machine's own figures."""
