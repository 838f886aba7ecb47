/* Stand-in for AUTOSAR's memory and pointer classes: macro arguments that the stand-in for Compiler.h drops. */
