"""Finding runs without proof: random runs, and the nearest missing goal again and again."""
