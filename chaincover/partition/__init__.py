"""Where one chain cannot cover all goals: several chains (Algorithms 6 and 7 of the paper), or the best single one."""
