/* Node Gate: a sliding gate, in the style of SCADE Suite KCG 6.
 *
 * The nodes inside are activated in some modes only. Each has a flag that tells its first cycle, in which it sets what its
 * later cycles read; Gate_init sets these flags and nothing else.
 */
#include "Gate.h"

#define PRE(now, first, memory) \
  if (outC->init) \
    now = first; \
  else \
    now = outC->memory

/* Edges of the key and of the light beam: activated in every cycle */
static void Edges(kcg_bool key, kcg_bool beam, outC_Edges *outC)
{
  kcg_bool _L1, _L2, _L3, _L4, _L5;

  PRE(_L1, kcg_false, key);
  PRE(_L2, kcg_false, key_before);
  PRE(_L3, kcg_false, beam);
  PRE(_L4, kcg_false, beam_before);
  PRE(_L5, kcg_false, beam_rise);
  outC->key_rise = key & !_L1 & !_L2;
  outC->beam_long = beam & _L3 & _L4;
  outC->beam_rise = beam & !_L3 & !_L5;
  outC->key_before = _L1;
  outC->key = key;
  outC->beam_before = _L3;
  outC->beam = beam;
  outC->init = kcg_false;
}

/* Motion of the gate: activated while the motor runs; a new way begins with its first cycle there */
static void Motion(kcg_bool forth, kcg_bool again, outC_Motion *outC)
{
  kcg_bool _L6, _L7, _L8, _L9, _L10, _L11, _L12, _L13;
  kcg_int last_count;

  PRE(_L6, forth, forth);
  PRE(_L7, kcg_false, turned);
  PRE(_L8, kcg_false, half);
  PRE(_L9, kcg_true, slow);
  PRE(_L10, kcg_false, fast);
  PRE(_L11, kcg_false, lamp);
  PRE(_L12, kcg_false, at_end);
  PRE(_L13, kcg_true, fresh);
  PRE(last_count, 0, count);
  outC->fresh = again | _L12;
  outC->turned = (forth != _L6) | (_L7 & !outC->fresh);
  outC->count = outC->fresh ? 1 : last_count < TRAVEL ? last_count + 1 : TRAVEL;
  outC->half = outC->count * 2 >= TRAVEL;
  outC->slow = !_L8 | _L13;
  outC->fast = _L9 & _L8 & !outC->turned;
  outC->lamp = !_L11 | (_L10 & outC->turned);
  outC->at_end = outC->count == TRAVEL;
  outC->forth = forth;
  outC->init = kcg_false;
}

/* Patience of the open gate: activated while it is open */
static void Patience(kcg_bool again, kcg_bool free, outC_Patience *outC)
{
  kcg_bool _L14, _L15, _L16, _L17, _L18, _L19;
  kcg_int last_left;

  PRE(_L14, kcg_true, free);
  PRE(_L15, kcg_false, warned);
  PRE(_L16, kcg_false, passed);
  PRE(_L17, kcg_false, two);
  PRE(_L18, kcg_false, over);
  PRE(_L19, kcg_false, blink);
  PRE(last_left, WAIT, left);
  outC->passed = (free & !_L14) | (_L16 & !again);
  outC->two = _L16 & outC->passed & !_L14;
  outC->left = again | !free | _L18 ? WAIT : last_left > 0 ? last_left - 1 : 0;
  outC->over = outC->left == 0;
  outC->warned = (outC->left == 1) | (_L15 & !again);
  outC->blink = outC->warned & !_L19;
  outC->free = free | _L17;
  outC->init = kcg_false;
}

/* Gate/ */
void Gate(inC_Gate *inC, outC_Gate *outC)
{
  kcg_bool again;
  kcg_int last_mode, last_way;

  PRE(last_mode, MODE_CLOSED, mode);
  PRE(last_way, MODE_CLOSING, way);
  PRE(again, kcg_true, changed);
  outC->init = kcg_false;
  Edges(inC->key, inC->beam, &outC->edges);
  outC->mode = last_mode;
  switch (last_mode) {
    case MODE_OPENING:
    case MODE_CLOSING:
      Motion(last_mode == MODE_OPENING, again, &outC->motion);
      if (last_mode == MODE_CLOSING & outC->edges.beam_rise)
        outC->mode = MODE_OPENING;
      else if (outC->edges.key_rise)
        outC->mode = MODE_STOPPED;
      else if (outC->motion.at_end)
        outC->mode = last_mode == MODE_OPENING ? MODE_OPENED : MODE_CLOSED;
      outC->way = outC->mode == MODE_OPENING ? MODE_OPENING : last_mode;
      break;
    case MODE_OPENED:
      Patience(again, !inC->beam, &outC->patience);
      if (outC->patience.over | (outC->patience.passed & outC->edges.key_rise))
        outC->mode = MODE_CLOSING;
      outC->way = last_way;
      break;
    default: /* closed, stopped */
      if (outC->edges.key_rise & !outC->edges.beam_long)
        outC->mode = last_way == MODE_OPENING ? MODE_CLOSING : MODE_OPENING;
      outC->way = last_way;
      break;
  }
  outC->changed = outC->mode != last_mode;
}

void Gate_init(outC_Gate *outC)
{
  outC->init = kcg_true;
  outC->edges.init = kcg_true;
  outC->motion.init = kcg_true;
  outC->patience.init = kcg_true;
}
