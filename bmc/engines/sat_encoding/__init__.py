"""From formulas to clauses: bit-blasting into and-inverter graphs, and their clauses placed at many steps."""
