"""What is told about a controller before any chain is searched."""
