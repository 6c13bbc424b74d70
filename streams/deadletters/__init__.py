"""What was given up: read from ``gw.deadletter``, counted, taken in again once the cause is mended, marked as done."""
