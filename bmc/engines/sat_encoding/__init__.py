"""From formulas to gates to clauses: translation into and-inverter graphs, and their clauses placed at many steps."""
