/* Stand-in: the model declares nothing here. */
