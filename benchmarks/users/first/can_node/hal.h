/* What the board support package gives us */
#ifndef HAL_H
#define HAL_H
#include <stdbool.h>
#include <stdint.h>

struct can_frame {
    uint8_t id;
    uint8_t data;
    uint8_t ctr;
    uint8_t crc;
};

bool hal_ignition(void);
bool hal_wake_line(void);
bool hal_busoff(void);
uint8_t hal_voltage(void);                  /* 0.1 V */
bool hal_can_rx(struct can_frame *frame);   /* false: nothing received */
void hal_can_tx(uint8_t id, uint8_t data);
void hal_can_restart(bool restart);
#endif
