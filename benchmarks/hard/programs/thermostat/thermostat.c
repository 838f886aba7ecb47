/* Room thermostat on a small board. loop() is called every 100 ms; millis() counts milliseconds since power-up.
 * The relay must not be switched more often than the compressor allows, the display sleeps, a window stops the heating.
 */
#include <stdbool.h>
#include <stdint.h>

#define MIN_ON 60000UL        /* ms that the relay stays on at least */
#define MIN_OFF 30000UL       /* ms that it stays off at least */
#define DISPLAY_TIME 15000UL
#define WINDOW_DELAY 20000UL
#define HYST 5                /* tenths of a degree */

extern unsigned long millis(void);

int sensor;                   /* tenths of a degree */
bool key_up, key_down, window_open;

static int setpoint;
static bool relay, display_on, blocked;
static unsigned long relay_since, last_key, window_since;
static uint8_t switch_count;
static bool key_up_old, key_down_old, window_old;

void setup(void)
{
  setpoint = 200;
  relay = false;
  display_on = true;
  blocked = false;
  relay_since = 0;
  last_key = 0;
  window_since = 0;
  switch_count = 0;
  key_up_old = key_down_old = window_old = false;
}

static void keys(unsigned long now)
{
  if (key_up && !key_up_old) {
    if (display_on && setpoint < 300)
      setpoint += 5;
    display_on = true;
    last_key = now;
  } else if (key_down && !key_down_old) {
    if (display_on && setpoint > 50)
      setpoint -= 5;
    display_on = true;
    last_key = now;
  }
  if (display_on && now - last_key >= DISPLAY_TIME)
    display_on = false;
  key_up_old = key_up;
  key_down_old = key_down;
}

void loop(void)
{
  unsigned long now = millis();

  keys(now);
  if (window_open && !window_old)
    window_since = now;
  blocked = window_open && now - window_since > WINDOW_DELAY;
  window_old = window_open;

  if (relay) {
    if ((sensor > setpoint + HYST || blocked) && now - relay_since >= MIN_ON) {
      relay = false;
      relay_since = now;
    }
  } else if (sensor < setpoint - HYST && !blocked && now - relay_since >= MIN_OFF) {
    relay = true;
    relay_since = now;
    if (switch_count < 255)
      switch_count++;
  }
}
