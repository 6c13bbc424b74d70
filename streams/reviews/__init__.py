"""Reviews: judged answers out to people, their labels back in, and what the labels say of the detector."""
