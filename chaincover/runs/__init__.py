"""Finding runs without proof: simulation, nearest goal first."""
