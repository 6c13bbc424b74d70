"""A made-up product with documents, questions and labelled answers, and the traffic that the demo replays from it."""
