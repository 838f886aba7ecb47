/* Stand-in for MemMap.h and <Component>_MemMap.h: sections have no influence on what is computed. */
