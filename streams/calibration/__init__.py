"""What people's labels say of the detector: thresholds, operating points, reliability, as page, picture and JSON."""
