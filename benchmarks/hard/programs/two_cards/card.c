/* Two smart cards of Pretschner 2001 on one bus; their counters begin at 4. */
enum ctl { MF00, L1, L2, L3, DF00INIT, L5, DF04ADMIN };
enum cmd { SEL_MF, SEL_L1, SEL_L2, SEL_L3, SEL_D0, SEL_L5, SEL_D4, KEY, RND, AUTH_OK, AUTH_BAD, PUK };
typedef struct { enum ctl ctl; unsigned char auth; unsigned char c1, c2, c3, c4, c5, c6; unsigned char legal; } t_card;
typedef struct { t_card a, b; } t_state;
typedef struct { enum cmd cmd; unsigned char to; } t_input;
static void init_card(t_card *s) { s->ctl = MF00; s->auth = 0; s->c1 = 4; s->c2 = 4; s->c3 = 4; s->c4 = 3; s->c5 = 4; s->c6 = 4; s->legal = 0; }
static void go(t_card *s, enum ctl c) { s->ctl = c; s->auth = 0; s->legal = 1; }
static void card(t_input *i, t_card *s) {
  s->legal = 0;
  if (s->c1 == 0 || s->c2 == 0 || s->c3 == 0 || s->c4 == 0 || s->c5 == 0 || s->c6 == 0) {
    if (i->cmd == PUK) {
      s->legal = 1;
      if (s->c1 == 0) s->c1 = 4;
      if (s->c2 == 0) s->c2 = 4;
      if (s->c3 == 0) s->c3 = 4;
      if (s->c4 == 0) s->c4 = 3;
      if (s->c5 == 0) s->c5 = 4;
      if (s->c6 == 0) s->c6 = 4;
    }
    return;
  }
  switch (i->cmd) {
  case SEL_MF: if (s->ctl != MF00) go(s, MF00); break;
  case SEL_L1: if (s->ctl == MF00 || s->ctl == DF00INIT || s->ctl == L2 || s->ctl == L3) go(s, L1); break;
  case SEL_L2: if (s->ctl == MF00 || s->ctl == L3 || s->ctl == L1) go(s, L2); break;
  case SEL_L3: if (s->ctl == L2) go(s, L3); break;
  case SEL_D0: if (s->ctl == L1) go(s, DF00INIT); break;
  case SEL_L5: if (s->ctl == DF04ADMIN) go(s, L5); break;
  case SEL_D4: if (s->ctl == L5) go(s, DF04ADMIN); break;
  case KEY: if (s->ctl != MF00 && s->auth == 0) { s->auth = 1; s->legal = 1; } break;
  case RND: if (s->ctl != MF00 && s->auth == 1) { s->auth = 2; s->legal = 1; } break;
  case AUTH_OK:
    if (s->auth == 2) switch (s->ctl) {
      case DF00INIT: go(s, L5); break;
      case L1: go(s, L3); break;
      case L3: case L2: case L5: case DF04ADMIN: go(s, DF00INIT); break;
      default: break;
    }
    break;
  case AUTH_BAD:
    if (s->ctl == DF04ADMIN) { s->c6--; s->auth = 0; s->legal = 1; }
    else if (s->auth == 2) switch (s->ctl) {
      case L1: s->c1--; s->auth = 0; s->legal = 1; break;
      case L2: s->c2--; s->auth = 0; s->legal = 1; break;
      case L3: s->c3--; s->auth = 0; s->legal = 1; break;
      case DF00INIT: s->c4--; s->auth = 0; s->legal = 1; break;
      case L5: s->c5--; s->auth = 0; s->legal = 1; break;
      default: break;
    }
    break;
  default: break;
  }
}

void init(t_state *s) { init_card(&s->a); init_card(&s->b); }
void compute(t_input *i, t_state *s) { if (i->to == 0) card(i, &s->a); else card(i, &s->b); }
