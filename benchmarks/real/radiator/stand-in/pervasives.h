/* Stands in for the header of the Heptagon run-time library, of which this program uses nothing. */
