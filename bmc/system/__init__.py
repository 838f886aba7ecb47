"""Transition systems, their runs, simulation and held inputs."""
