"""The command line: each command is one file."""
