/* A target on this machine: the firmware of a program, which reads its standard input and writes its standard output.
 *
 *   target COUNTS [FAULT STEP]
 *
 * When its input ends it writes two numbers into the file COUNTS: how many steps the program made, and how many requests
 * were answered from the last reply. FAULT happens before the answer to the step number STEP: kill (the process ends),
 * hang (it answers no more), forget (it starts anew, as a board that is reset), late (it answers after a second and a
 * half). */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chain.h"
#include "chaincover_serial.h"

static uint8_t answer[4096];
static size_t filled;
static unsigned long made;
static const char *fault = "";
static uint32_t at;
static char **arguments;

void __real_chaincover_step(const struct chaincover_inputs *inputs);
void __wrap_chaincover_step(const struct chaincover_inputs *inputs);

void __wrap_chaincover_step(const struct chaincover_inputs *inputs) {
  made++;
  __real_chaincover_step(inputs);
}

static void fail(void) {
  const struct timespec late = {1, 500000000};
  if (strcmp(fault, "kill") == 0) (void)raise(SIGKILL);
  if (strcmp(fault, "hang") == 0) {
    for (;;) (void)pause();
  }
  if (strcmp(fault, "late") == 0) (void)nanosleep(&late, NULL);
  if (strcmp(fault, "forget") == 0) {
    arguments[2] = NULL;
    (void)execv(arguments[0], arguments);
  }
  fault = "";
}

void cc_put(uint8_t byte) {
  if (*fault != '\0' && cc_serial_steps() == at) fail();
  if (filled < sizeof answer) answer[filled++] = byte;
}

static void flush(void) {
  size_t sent = 0;
  while (sent < filled) {
    const ssize_t count = write(STDOUT_FILENO, answer + sent, filled - sent);
    if (count <= 0) break;
    sent += (size_t)count;
  }
  filled = 0;
}

int main(int count, char **given) {
  uint8_t bytes[256];
  ssize_t came, place;
  FILE *counts;
  arguments = given;
  if (count > 3) {
    fault = given[2];
    at = (uint32_t)strtoul(given[3], NULL, 10);
  }
  while ((came = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
    for (place = 0; place < came; place++) cc_serial_byte(bytes[place]);
    flush();
  }
  counts = fopen(given[1], "w");
  if (counts == NULL) return 1;
  (void)fprintf(counts, "%lu %lu\n", made, (unsigned long)cc_serial_repeated());
  return fclose(counts) == 0 ? 0 : 1;
}
