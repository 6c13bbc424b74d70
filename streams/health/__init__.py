"""Whether a process is well: probes, metrics, true lag, and the watchdog that ends a process which only looks alive."""
