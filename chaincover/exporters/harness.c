
struct cc_column {
  const unsigned char *next; /* in its table */
  uint32_t left;             /* values of this piece */
  cc_word value, difference;
};

#if CC_GOALS
struct cc_goal {
  uint32_t first;      /* 1 more than the step at which it is covered first, 0: it is not */
  uint32_t failed;     /* 1 more than the step from which its consequent failed first */
  unsigned char known; /* CC_OCCURRED, CC_DECIDED */
};

#define CC_OCCURRED 1u
#define CC_DECIDED 2u

static struct cc_goal cc_goals[CC_GOALS];
#endif
#if CC_MEMORY
static cc_word cc_memory[CC_MEMORY]; /* what the harness remembers of earlier steps */
#endif
static struct cc_column cc_columns[CC_COLUMNS];
static struct chaincover_inputs cc_in;
static struct chaincover_outputs cc_out;
#if CC_INPUTS
static cc_word cc_input[CC_INPUTS]; /* of this step */
#endif
static cc_word cc_output[CC_OUTPUTS];   /* after it */

static unsigned char cc_deviates; /* what follows is of the first deviation */
static unsigned int cc_variable;
static uint32_t cc_at;
static cc_word cc_expected, cc_actual;
static unsigned int cc_number_of_line, cc_failed_lines;

static void cc_start(void);
static void cc_give(void);
static void cc_take(void);
static void cc_compare(uint32_t step);
static void cc_remember(void);
static void cc_judge(uint32_t step);
static void cc_tell_deviation(void);
static void cc_tell_goals(void);

static cc_word cc_number(struct cc_column *column) {
  cc_word number = 0u;
  unsigned int shift = 0u;
  unsigned char byte;
  do {
    byte = (unsigned char)CHAINCOVER_BYTE(column->next);
    column->next++;
    number |= (cc_word)(byte & 127u) << shift;
    shift += 7u;
  } while (byte & 128u);
  return number;
}

static cc_word cc_difference(struct cc_column *column) {
  const cc_word number = cc_number(column);
  return (number & 1u) ? ~(number >> 1) : number >> 1;
}

static cc_word cc_following(unsigned int number) {
  struct cc_column *const column = &cc_columns[number];
  if (column->left) {
    column->value += column->difference;
  } else {
    const cc_word head = cc_number(column);
    column->value += cc_difference(column);
    column->difference = (head & 1u) ? cc_difference(column) : 0u;
    column->left = (uint32_t)(head >> 1);
  }
  column->left--;
  return column->value;
}

static void cc_say(const char *text) {
  char character;
  while ((character = (char)CHAINCOVER_CHARACTER(text)) != '\0') {
    chaincover_put(character);
    text++;
  }
}

static void cc_decimal(cc_word number) {
  char digits[21];
  unsigned int count = 0u;
  do {
    digits[count] = (char)('0' + (int)(number % 10u));
    count++;
    number /= 10u;
  } while (number);
  while (count) {
    count--;
    chaincover_put(digits[count]);
  }
}

#if CC_SIGNED
static void cc_signed(cc_word raw, cc_word top) {
  if (raw & top) {
    chaincover_put('-');
    raw = (top - raw) + top;
  }
  cc_decimal(raw);
}
#endif

#if CC_FLOATING
static void cc_pattern(cc_word raw, unsigned int bits) {
  chaincover_put('0');
  chaincover_put('x');
  while (bits) {
    const unsigned int digit = (unsigned int)((raw >> (bits - 4u)) & 15u);
    chaincover_put((char)(digit < 10u ? '0' + (int)digit : 'a' + (int)digit - 10));
    bits -= 4u;
  }
}
#endif

static void cc_deviation(unsigned int variable, uint32_t step, cc_word expected, cc_word actual) {
  if (cc_deviates) return;
  cc_deviates = 1u;
  cc_variable = variable;
  cc_at = step;
  cc_expected = expected;
  cc_actual = actual;
}

#if CC_EXACT
static void cc_check(unsigned int variable, uint32_t step, uint32_t from, cc_word expected) {
  if (step >= from && expected != cc_output[variable]) cc_deviation(variable, step, expected, cc_output[variable]);
}
#endif

#if CC_LESS
static int cc_less(cc_word a, cc_word b) {
  return a < b;
}
#endif

#if CC_GOALS
static void cc_covers(unsigned int goal, uint32_t step) {
  if (!cc_goals[goal].first) cc_goals[goal].first = step + 1u;
}

static const char cc_covered[] CHAINCOVER_TABLE = ": covered at step ";
static const char cc_as_seen[] CHAINCOVER_TABLE = " as seen\n";
static const char cc_missed[] CHAINCOVER_TABLE = ": missed\n";
#endif

#if CC_REQUIREMENTS
static void cc_fails(unsigned int goal, uint32_t step) {
  if (!cc_goals[goal].failed) cc_goals[goal].failed = step + 1u;
}

static const char cc_held[] CHAINCOVER_TABLE = ": held\n";
static const char cc_failed[] CHAINCOVER_TABLE = ": failed";
static const char cc_not_exercised[] CHAINCOVER_TABLE = ": not exercised\n";
static const char cc_not_judged[] CHAINCOVER_TABLE = ": not judged to the end\n";
#endif

#if CC_REQUIREMENTS || CC_FAILING
static const char cc_at_step[] CHAINCOVER_TABLE = " at step ";
#endif
#if CC_GOALS || CC_PREDICTED
static const char cc_goal_is[] CHAINCOVER_TABLE = "goal ";
#endif
#if CC_REQUIREMENTS || CC_FAILING || CC_UNSEEN
static const char cc_requirement_is[] CHAINCOVER_TABLE = "requirement ";
#endif

static const char cc_not[] CHAINCOVER_TABLE = "not ";
static const char cc_ok[] CHAINCOVER_TABLE = "ok ";
static const char cc_dash[] CHAINCOVER_TABLE = " - ";

static void cc_line(int ok) {
  cc_number_of_line++;
  if (!ok) {
    cc_failed_lines++;
    cc_say(cc_not);
  }
  cc_say(cc_ok);
  cc_decimal(cc_number_of_line);
  cc_say(cc_dash);
}

#if CC_GOALS
static void cc_tell_goal(unsigned int goal, const char *name) {
  const struct cc_goal *const seen = &cc_goals[goal];
  cc_line(seen->first != 0u);
  cc_say(cc_goal_is);
  cc_say(name);
  if (!seen->first) {
    cc_say(cc_missed);
    return;
  }
  cc_say(cc_covered);
  cc_decimal((cc_word)(seen->first - 1u));
  cc_say(cc_as_seen);
}
#endif

#if CC_REQUIREMENTS
static void cc_tell_requirement(unsigned int goal, const char *name) {
  const struct cc_goal *const seen = &cc_goals[goal];
  cc_line(!seen->failed && (seen->known & CC_DECIDED) != 0u);
  cc_say(cc_requirement_is);
  cc_say(name);
  if (seen->failed) {
    cc_say(cc_failed);
    cc_say(cc_at_step);
    cc_decimal((cc_word)(seen->failed - 1u));
    chaincover_put('\n');
  } else if (seen->known & CC_DECIDED) {
    cc_say(cc_held);
  } else {
    cc_say((seen->known & CC_OCCURRED) ? cc_not_judged : cc_not_exercised);
  }
}
#endif

#if CC_FAILING
static const char cc_fails_here[] CHAINCOVER_TABLE = ": fails";
static const char cc_does[] CHAINCOVER_TABLE = ", the program does as predicted\n";
static const char cc_deviated[] CHAINCOVER_TABLE = ": not judged, the program deviates from the run before\n";
static const char cc_not_seen[] CHAINCOVER_TABLE =
    "# It reads more than inputs and compared values: this harness cannot judge it.\n"
    "# The values are compared with those of a run on which it fails. After a repair\n"
    "# of the program export the run again.\n";

static void cc_tell_failing(const char *name, uint32_t step, uint32_t end) {
  cc_line(0);
  cc_say(cc_requirement_is);
  cc_say(name);
  if (cc_deviates && cc_at <= end) {
    cc_say(cc_deviated);
  } else {
    cc_say(cc_fails_here);
    cc_say(cc_at_step);
    cc_decimal((cc_word)step);
    cc_say(cc_does);
  }
  cc_say(cc_not_seen);
}
#endif

#if CC_PREDICTED
static const char cc_comment[] CHAINCOVER_TABLE = "# ";
static const char cc_as_predicted[] CHAINCOVER_TABLE = ": as predicted\n";
static const char cc_not_observable[] CHAINCOVER_TABLE = ": not observable\n";

static void cc_tell_predicted(const char *kind, const char *name, int agrees) {
  cc_say(cc_comment);
  cc_say(kind);
  cc_say(name);
  cc_say(agrees ? cc_as_predicted : cc_not_observable);
}
#endif

static const char cc_values[] CHAINCOVER_TABLE = "the compared values are those of the chain\n";
static const char cc_head[] CHAINCOVER_TABLE = "TAP version 14\n1..";
static const char cc_done[] CHAINCOVER_TABLE = "# chaincover: done, ";
static const char cc_in_all[] CHAINCOVER_TABLE = " failed\n";

int chaincover_run(void) {
  uint32_t step;
  cc_say(cc_head);
  cc_decimal(CC_LINES);
  chaincover_put('\n');
  cc_start();
  chaincover_reset();
  cc_take();
  cc_compare(0u);
  cc_judge(0u);
  for (step = 1u; step <= CC_STEPS; step++) {
    cc_give();
    cc_remember();
    chaincover_step(&cc_in);
    cc_take();
    cc_compare(step);
    cc_judge(step);
  }
  cc_line(!cc_deviates);
  cc_say(cc_values);
  if (cc_deviates) cc_tell_deviation();
  cc_tell_goals();
  cc_say(cc_done);
  cc_decimal((cc_word)cc_failed_lines);
  cc_say(cc_in_all);
  return cc_failed_lines ? 1 : 0;
}

