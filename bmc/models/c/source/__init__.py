"""The text of a C program: it is preprocessed and parsed, and its types and declarations are read."""
