/*
 * Pedestrian crossing, in the style of SCCharts netlist code.
 *
 *   Green --walk--> Yellow --2 ticks--> Walk --3 ticks--> Green;  any --fault--> Blink --walk, no fault--> Green
 */
#include "crossing.h"

#define YELLOW_TICKS 2
#define WALK_TICKS 3

void logic(TickData *d) {
  /* Blink */
  d->_g8 = d->_pg8;
  d->_g7 = d->_g8 && d->walk && !d->fault;
  /* Green */
  d->_g2 = d->_pg2;
  d->_g3 = d->_g2 && !d->fault && d->walk;
  /* Yellow */
  d->_g4 = d->_pg4;
  if (d->_g4) {
    d->count += 1;
  }
  d->_g4_e1 = d->_g4 && !d->fault;
  d->_g5 = d->_g4_e1 && d->count >= YELLOW_TICKS;
  /* Walk */
  d->_g6 = d->_pg6;
  if (d->_g6) {
    d->count += 1;
  }
  d->_cg6 = d->count >= WALK_TICKS;
  d->_g1 = d->_g6 && !d->fault && d->_cg6;
  /* a fault, wherever the light stands */
  d->_g8 = (d->_g8 && !d->_g7) || ((d->_g2 || d->_g4 || d->_g6) && d->fault);
  if (d->_g8) {
    d->red = 0;
    d->green = 0;
    d->man = 0;
    d->yellow = !d->yellow;
    d->count = 0;
  }
  /* Green is entered */
  d->_g1 = d->_GO || d->_g1 || d->_g7;
  if (d->_g1) {
    d->red = 0;
    d->green = 1;
    d->yellow = 0;
    d->man = 0;
    d->count = 0;
  }
  d->_g2 = d->_g1 || (d->_g2 && !d->fault && !d->_g3);
  /* Yellow is entered */
  if (d->_g3) {
    d->green = 0;
    d->yellow = 1;
    d->count = 0;
  }
  d->_g4 = d->_g3 || (d->_g4_e1 && !d->_g5);
  /* Walk is entered */
  if (d->_g5) {
    d->yellow = 0;
    d->red = 1;
    d->man = 1;
    d->count = 0;
  }
  d->_g6 = d->_g5 || (d->_g6 && !d->fault && !d->_cg6);
}

void reset(TickData *d) {
  d->_GO = 1;
  d->_TERM = 0;
  d->red = 0;
  d->green = 0;
  d->yellow = 0;
  d->man = 0;
  d->count = 0;
  d->_pg2 = 0;
  d->_pg4 = 0;
  d->_pg6 = 0;
  d->_pg8 = 0;
}

void tick(TickData *d) {
  logic(d);

  d->_pg2 = d->_g2;
  d->_pg4 = d->_g4;
  d->_pg6 = d->_g6;
  d->_pg8 = d->_g8;
  d->_GO = 0;

  /* Reset of the inputs */
  d->walk = 0;
  d->fault = 0;
}
