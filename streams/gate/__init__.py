"""What a gate run reports: limits and whether they hold, two runs compared, and the report as JUnit."""
