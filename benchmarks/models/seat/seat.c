/*
 * Seat adjustment with one memory, in the style of STATEMATE's code generator: global variables only, the state bits of
 * all charts in one list that macros read and write, and each chart with a copy of its state for the end of the step.
 */

#define SYS_bit_get(a, b) (a)[(b)]
#define SYS_bit_clr(a, b) (a)[(b)] = 0
#define SYS_bit_set(a, b) (a)[(b)] = 1
#define SYS_bit_cpy(a1, i1, a2, i2) (a1)[(i1)] = (a2)[(i2)]

#define active_SEAT_CTRL_IDX 0
#define active_SEAT_CTRL_old_IDX 1
#define entered_RECALL_SEAT_CTRL_IDX 2
#define entered_RECALL_SEAT_CTRL_copy_IDX 3
#define SEAT_CTRL__STORED_IDX 4
#define SEAT_CTRL__STORED_copy_IDX 5
#define SEAT_CTRL__BLOCKED_IDX 6
#define SEAT_CTRL__BLOCKED_copy_IDX 7

#define POSITION_END 4
#define BLOCK_TIME 2

static char seat_bitlist[8];

/* inputs: the environment writes them before each call of seat_DU */
char seat_forth;
char seat_back;
char seat_store;
char seat_recall;
char seat_ignition;
int seat_current;

/* outputs */
char seat_motor_forth;
char seat_motor_back;

int seat_position;
int seat_memory;
unsigned long seat_sc_MOVE; /* steps since the motor has changed, up to BLOCK_TIME */
static int MOVE_SEAT_CTRL_next_state;
static int SEAT_CTRL_SEAT_CTRL_next_state;
static int stable;

void seat_init(void)
{
  int i;

  for (i = 0; i < 8; i++)
    SYS_bit_clr(seat_bitlist, i);
  seat_position = 2;
  seat_memory = 0;
  seat_sc_MOVE = 0;
  seat_motor_forth = 0;
  seat_motor_back = 0;
  MOVE_SEAT_CTRL_next_state = 0;
  SEAT_CTRL_SEAT_CTRL_next_state = 0;
  stable = 0;
}

/* the seat: one position per step */
static void seat_plant(void)
{
  if (seat_motor_forth && seat_position < POSITION_END)
    seat_position++;
  if (seat_motor_back && seat_position > 0)
    seat_position--;
}

static void seat_motors(char forth, char back)
{
  if (seat_motor_forth != forth || seat_motor_back != back)
    seat_sc_MOVE = 0;
  seat_motor_forth = forth;
  seat_motor_back = back;
}

void seat_generic_SEAT_CTRL(void)
{
  if (SYS_bit_get(seat_bitlist, active_SEAT_CTRL_IDX)) {
    switch (SEAT_CTRL_SEAT_CTRL_next_state) {
      case 1: /* HAND */
        if (seat_recall && SYS_bit_get(seat_bitlist, SEAT_CTRL__STORED_IDX) &&
            !SYS_bit_get(seat_bitlist, SEAT_CTRL__BLOCKED_IDX)) {
          stable = 0;
          SYS_bit_set(seat_bitlist, entered_RECALL_SEAT_CTRL_copy_IDX);
          SEAT_CTRL_SEAT_CTRL_next_state = 2;
          break;
        }
        if (seat_store) {
          seat_memory = seat_position;
          SYS_bit_set(seat_bitlist, SEAT_CTRL__STORED_copy_IDX);
        }
        switch (MOVE_SEAT_CTRL_next_state) {
          case 1: /* FORTH */
            if (!seat_forth || seat_position == POSITION_END) {
              stable = 0;
              seat_motors(0, 0);
              MOVE_SEAT_CTRL_next_state = 0;
            }
            break;
          case 2: /* BACK */
            if (!seat_back || seat_position == 0) {
              stable = 0;
              seat_motors(0, 0);
              MOVE_SEAT_CTRL_next_state = 0;
            }
            break;
          default: /* REST */
            if (seat_forth && !seat_back && seat_position < POSITION_END) {
              stable = 0;
              seat_motors(1, 0);
              MOVE_SEAT_CTRL_next_state = 1;
            } else if (seat_back && !seat_forth && seat_position > 0) {
              stable = 0;
              seat_motors(0, 1);
              MOVE_SEAT_CTRL_next_state = 2;
            }
            break;
        }
        break;

      case 2: /* RECALL */
        MOVE_SEAT_CTRL_next_state = 0;
        if (!seat_recall) {
          stable = 0;
          seat_motors(0, 0);
          SEAT_CTRL_SEAT_CTRL_next_state = 1;
          break;
        }
        if (seat_position < seat_memory)
          seat_motors(1, 0);
        else if (seat_position > seat_memory)
          seat_motors(0, 1);
        else {
          stable = 0;
          seat_motors(0, 0);
          SEAT_CTRL_SEAT_CTRL_next_state = 1;
        }
        break;

      default:
        stable = 0;
        SEAT_CTRL_SEAT_CTRL_next_state = 1;
        break;
    }
    /* a motor that draws too much current for too long is blocked: stop, no more recalls until switched off */
    if ((seat_motor_forth || seat_motor_back) && seat_current > 80 && seat_sc_MOVE >= BLOCK_TIME) {
      seat_motors(0, 0);
      MOVE_SEAT_CTRL_next_state = 0;
      SEAT_CTRL_SEAT_CTRL_next_state = 1;
      SYS_bit_set(seat_bitlist, SEAT_CTRL__BLOCKED_copy_IDX);
    }
  }
}

/* one step */
void seat_DU(void)
{
  if (seat_sc_MOVE < BLOCK_TIME)
    seat_sc_MOVE++;
  seat_plant();
  SYS_bit_cpy(seat_bitlist, active_SEAT_CTRL_old_IDX, seat_bitlist, active_SEAT_CTRL_IDX);
  if (seat_ignition)
    SYS_bit_set(seat_bitlist, active_SEAT_CTRL_IDX);
  else {
    SYS_bit_clr(seat_bitlist, active_SEAT_CTRL_IDX);
    SYS_bit_clr(seat_bitlist, SEAT_CTRL__BLOCKED_copy_IDX);
    seat_motors(0, 0);
    SEAT_CTRL_SEAT_CTRL_next_state = 0;
    MOVE_SEAT_CTRL_next_state = 0;
  }
  do {
    stable = 1;
    seat_generic_SEAT_CTRL();
  } while (0); /* one pass per step: asynchronous steps are not used */
  SYS_bit_cpy(seat_bitlist, entered_RECALL_SEAT_CTRL_IDX, seat_bitlist, entered_RECALL_SEAT_CTRL_copy_IDX);
  SYS_bit_clr(seat_bitlist, entered_RECALL_SEAT_CTRL_copy_IDX);
  SYS_bit_cpy(seat_bitlist, SEAT_CTRL__STORED_IDX, seat_bitlist, SEAT_CTRL__STORED_copy_IDX);
  SYS_bit_cpy(seat_bitlist, SEAT_CTRL__BLOCKED_IDX, seat_bitlist, SEAT_CTRL__BLOCKED_copy_IDX);
}
