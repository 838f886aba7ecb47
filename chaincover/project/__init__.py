"""The project file and how it is loaded."""
