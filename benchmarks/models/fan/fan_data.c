/*
 * File: fan_data.c
 */
#include "fan.h"

/* Constant parameters (default storage) */
const ConstP rtConstP = {
  /* Computed Parameter: Table_Humidity
   * Referenced by: '<S3>/1-D Lookup Table'
   */
  { 60, 70, 80 }                       /* percent */
};
