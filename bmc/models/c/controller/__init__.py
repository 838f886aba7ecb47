"""From a C program to a transition system with an interface."""
