/* Pedestrian crossing: one structure for inputs, outputs, guards and registers. */
#ifndef CROSSING_H
#define CROSSING_H

/*
 * In the style of netlist code that is generated from state charts: each guard is a field, registers (_pg..) keep a
 * guard for the next tick. The environment sets walk and fault before each tick; both are cleared at its end.
 */
typedef struct {
  char walk;
  char fault;
  char red;
  char green;
  char yellow;
  char man;
  int count;
  char _g1;
  char _g2;
  char _g3;
  char _g4;
  char _g5;
  char _g6;
  char _g7;
  char _g8;
  char _g4_e1;
  char _cg6;
  char _GO;
  char _TERM;
  char _pg2;
  char _pg4;
  char _pg6;
  char _pg8;
} TickData;

void reset(TickData *d);
void logic(TickData *d);
void tick(TickData *d);

#endif
