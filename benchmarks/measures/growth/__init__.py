"""How the cost grows with goals, K and program size."""
