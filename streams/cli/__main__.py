"""``python -m streams.cli``: the same as ``groundwatch``, where scripts are not on the path."""

from streams.cli.program import main

main()
