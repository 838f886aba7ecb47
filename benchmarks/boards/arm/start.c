/* Vectors, the start of the program and its end. */
#include "board.h"

extern uint32_t data_from[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
int main(void);
void reset(void);

/* End the machine, by semihosting: SYS_EXIT, with ADP_Stopped_ApplicationExit or ADP_Stopped_RunTimeErrorUnknown. */
static void end(int code) {
  register uint32_t call __asm__("r0") = 0x18u;
  register uint32_t why __asm__("r1") = code == 0 ? 0x20026u : 0x20023u;
  __asm__ volatile("bkpt 0xab" : : "r"(call), "r"(why) : "memory");
  for (;;) {
  }
}

static void fault(void) { end(1); }

void reset(void) {
  uint32_t *to = data_begin;
  const uint32_t *from = data_from;
  while (to < data_end) *to++ = *from++;
  for (to = bss_begin; to < bss_end; to++) *to = 0u;
  UART0->divisor = 16u;
  UART0->control = 3u; /* without this it neither sends nor receives, and a program that waits for it hangs */
  (void)UART0->data; /* QEMU looks again for bytes that came before the UART could receive */
  end(main());
}

void board_put(uint8_t byte) {
  while ((UART0->state & UART_FULL) != 0u) {
  }
  UART0->data = byte;
}

union vector {
  uint32_t *stack;
  void (*handler)(void);
};

__attribute__((section(".vectors"), used)) static const union vector vectors[16] = {
    {.stack = stack_top}, {.handler = reset}, {.handler = fault}, {.handler = fault},
    {.handler = fault},   {.handler = fault}, {.handler = fault},
};
