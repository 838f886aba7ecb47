"""How the cost grows with goals, K, program size and workers."""
