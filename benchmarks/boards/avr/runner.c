/* An ATmega328P on this machine, by libsimavr: runner PROGRAM.elf [terminal]
 *
 * What its UART sends goes to the standard output, or to a terminal of its own, whose name is the first line there and
 * from which the UART receives. It ends when the program sleeps with interrupts off, and tells how long that took. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

static int out = STDOUT_FILENO, full;

static void sent(struct avr_irq_t *irq, uint32_t value, void *nothing) {
  const unsigned char byte = (unsigned char)value;
  (void)irq, (void)nothing;
  if (write(out, &byte, 1) != 1) full = full;
}

static void filled(struct avr_irq_t *irq, uint32_t value, void *is_full) {
  (void)irq;
  if (value) full = is_full != NULL;
}

int main(int count, char **given) {
  static elf_firmware_t program;
  const uint32_t uart = AVR_IOCTL_UART_GETIRQ('0');
  uint32_t flags = 0;
  unsigned char byte;
  unsigned long turn;
  int state = cpu_Running, terminal = count > 2, slave;
  avr_t *avr = avr_make_mcu_by_name("atmega328p");
  if (count < 2 || !avr || elf_read_firmware(given[1], &program)) return 1;
  program.frequency = 16000000;
  avr_init(avr);
  avr->log = LOG_NONE;
  avr_load_firmware(avr, &program);
  avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
  avr_irq_register_notify(avr_io_getirq(avr, uart, UART_IRQ_OUTPUT), sent, NULL);
  avr_irq_register_notify(avr_io_getirq(avr, uart, UART_IRQ_OUT_XOFF), filled, &full);
  avr_irq_register_notify(avr_io_getirq(avr, uart, UART_IRQ_OUT_XON), filled, NULL);
  if (!terminal) out = dup(STDOUT_FILENO);
  if (!terminal) dup2(STDERR_FILENO, STDOUT_FILENO); /* for what libsimavr prints */
  if (terminal) {
    struct termios raw;
    memset(&raw, 0, sizeof raw);
    cfmakeraw(&raw);
    if (openpty(&out, &slave, NULL, &raw, NULL)) return 1;
    fcntl(out, F_SETFL, O_NONBLOCK);
    puts(ttyname(slave));
    fflush(stdout);
  }
  for (turn = 0; state != cpu_Done && state != cpu_Crashed; turn++) {
    state = avr_run(avr);
    if (terminal && turn % 256 == 0 && !full && read(out, &byte, 1) == 1)
      avr_raise_irq(avr_io_getirq(avr, uart, UART_IRQ_INPUT), byte);
  }
  fprintf(stderr, "%lu cycles\n", (unsigned long)avr->cycle);
  return state == cpu_Crashed;
}
