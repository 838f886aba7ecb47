/* Node Gate: a sliding gate, in the style of SCADE Suite KCG 6. */
#ifndef _Gate_H_
#define _Gate_H_

typedef unsigned char kcg_bool;
typedef int kcg_int;
#define kcg_true ((kcg_bool)1)
#define kcg_false ((kcg_bool)0)

#define MODE_CLOSED 0
#define MODE_OPENING 1
#define MODE_OPENED 2
#define MODE_CLOSING 3
#define MODE_STOPPED 4

#define TRAVEL 4
#define WAIT 5

typedef struct {
  kcg_bool key;
  kcg_bool beam;
} inC_Gate;

typedef struct {
  kcg_bool init;
  kcg_bool key, key_before, key_rise, beam, beam_before, beam_rise, beam_long;
} outC_Edges;

typedef struct {
  kcg_bool init;
  kcg_bool forth, turned, half, slow, fast, lamp, at_end, fresh;
  kcg_int count;
} outC_Motion;

typedef struct {
  kcg_bool init;
  kcg_bool free, warned, passed, two, over, blink;
  kcg_int left;
} outC_Patience;

typedef struct {
  kcg_bool init, changed;
  kcg_int mode, way;
  outC_Edges edges;
  outC_Motion motion;
  outC_Patience patience;
} outC_Gate;

extern void Gate(inC_Gate *inC, outC_Gate *outC);
extern void Gate_init(outC_Gate *outC);

#endif
