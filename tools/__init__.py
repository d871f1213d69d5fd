"""The ``holeshot`` command, one file per subcommand."""
