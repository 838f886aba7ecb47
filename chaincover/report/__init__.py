"""What people see of results, on the terminal and as documents."""
