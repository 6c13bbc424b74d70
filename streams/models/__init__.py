"""Models of layer L2 as files: which ones we know, where they lie, whether they are whole, and how to get them."""
