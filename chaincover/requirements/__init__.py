"""Whether requirements can fail."""
