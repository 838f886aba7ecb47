"""What ``check`` tells about a controller and its goals before any chain is sought."""
