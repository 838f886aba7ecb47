"""C code: it is preprocessed and parsed, executed symbolically, and becomes a transition system."""
