/* Job scheduler of a label printer: jobs are queued as they arrive; in every tick the queue is drained as far as the
 * budget of dots allows. A job that waits for too long is thrown away.
 */
#include <stdbool.h>
#include <stdint.h>

#define QUEUE_LEN 6u
#define BUDGET 40u
#define MAX_AGE 25u

enum printer { P_IDLE, P_PRINTING, P_PAPER_OUT, P_COOLING };

struct job {
  uint8_t dots;
  uint16_t arrived;
  bool urgent;
};

static struct job queue[QUEUE_LEN];
static uint8_t head, count;
static uint16_t ticks;
static enum printer state;
static uint8_t heat, dropped, done_in_tick;
static uint32_t printed;

void jobs_init(void)
{
  uint8_t n;
  for (n = 0; n < QUEUE_LEN; n++) {
    queue[n].dots = 0;
    queue[n].arrived = 0;
    queue[n].urgent = false;
  }
  head = count = 0;
  ticks = 0;
  state = P_IDLE;
  heat = dropped = done_in_tick = 0;
  printed = 0;
}

static void enqueue(uint8_t dots, bool urgent)
{
  uint8_t at;
  if (count == QUEUE_LEN) {
    if (dropped < 255)
      dropped++;
    return;
  }
  if (urgent) { /* in front of all others */
    head = head == 0 ? QUEUE_LEN - 1u : head - 1u;
    at = head;
  } else
    at = (uint8_t)((head + count) % QUEUE_LEN);
  queue[at].dots = dots;
  queue[at].arrived = ticks;
  queue[at].urgent = urgent;
  count++;
}

static void dequeue(void)
{
  head = (uint8_t)((head + 1u) % QUEUE_LEN);
  count--;
}

static void drain(void)
{
  uint16_t left = BUDGET;
  uint8_t n;

  done_in_tick = 0;
  for (n = 0; n < QUEUE_LEN && count > 0; n++) {
    struct job *job = &queue[head];
    if ((uint16_t)(ticks - job->arrived) > MAX_AGE) {
      if (dropped < 255)
        dropped++;
      dequeue();
      continue;
    }
    if (job->dots > left) {
      job->dots = (uint8_t)(job->dots - left);
      printed += left;
      left = 0;
      break;
    }
    left -= job->dots;
    printed += job->dots;
    done_in_tick++;
    dequeue();
  }
  heat = (uint8_t)(heat + (BUDGET - left) / 8u > 200u ? 200u : heat + (BUDGET - left) / 8u);
}

void jobs_step(bool arrives, uint8_t dots, bool urgent, bool paper)
{
  ticks++;
  if (arrives && dots > 0)
    enqueue(dots, urgent);
  if (heat > 0)
    heat--;
  switch (state) {
  case P_IDLE:
    if (count > 0)
      state = paper ? P_PRINTING : P_PAPER_OUT;
    break;
  case P_PRINTING:
    if (!paper)
      state = P_PAPER_OUT;
    else if (heat >= 100)
      state = P_COOLING;
    else {
      drain();
      if (count == 0)
        state = P_IDLE;
    }
    break;
  case P_PAPER_OUT:
    if (paper)
      state = count > 0 ? P_PRINTING : P_IDLE;
    break;
  case P_COOLING:
    if (heat < 60)
      state = P_PRINTING;
    break;
  }
}
