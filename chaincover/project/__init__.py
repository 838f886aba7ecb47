"""The project file ``chaincover.toml``, and the controller with its goals that it describes."""
