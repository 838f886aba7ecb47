/* See chaincover_serial.h. A frame is
 *
 *   0x7E  length (2)  session (4)  sequence (2)  kind (1)  payload (length)  CRC-32 (4)
 *
 * with the lowest byte first; the CRC is that of zlib over all between the first byte and itself. The host speaks first.
 * A request that comes again is answered from the last reply, and is never executed twice. The host draws a session
 * number when it says hello: a target that was reset in between knows none, and says so. */
#include "chaincover_serial.h"

enum { HELLO = 1, RESET = 2, STEP = 3, ANSWER = 0x80, LOST = 0xFF };
enum { START = 0x7E, HEAD = 9, TAIL = 4 };

#define LONGEST ((CC_INPUT_BYTES) > 4 ? (CC_INPUT_BYTES) : 4)
#define REPLY ((CC_OUTPUT_BYTES) > 4 ? (CC_OUTPUT_BYTES) : 4)

static uint8_t frame[HEAD + LONGEST + TAIL];
static uint16_t filled;
static uint8_t within;

static uint32_t session;
static uint16_t sequence;
static uint8_t has_session;

static uint8_t reply[REPLY];
static uint16_t reply_length;
static uint8_t reply_kind;

static uint32_t steps, repeated;

static uint32_t crc_of(uint32_t crc, uint8_t byte) {
  uint8_t bit;
  crc ^= byte;
  for (bit = 0; bit < 8; bit++) {
    crc = (crc & 1u) != 0u ? (crc >> 1) ^ 0xEDB88320u : crc >> 1;
  }
  return crc;
}

static uint32_t put(uint32_t crc, uint32_t value, uint8_t bytes) {
  while (bytes-- > 0u) {
    cc_put((uint8_t)(value & 0xFFu));
    crc = crc_of(crc, (uint8_t)(value & 0xFFu));
    value >>= 8;
  }
  return crc;
}

static void send(uint8_t kind, uint32_t of_session, uint16_t of_sequence, const uint8_t *payload, uint16_t length) {
  uint16_t place;
  uint32_t crc = 0xFFFFFFFFu;
  cc_put(START);
  crc = put(crc, length, 2);
  crc = put(crc, of_session, 4);
  crc = put(crc, of_sequence, 2);
  crc = put(crc, kind, 1);
  for (place = 0; place < length; place++) {
    crc = put(crc, payload[place], 1);
  }
  (void)put(0, crc ^ 0xFFFFFFFFu, 4);
}

static uint32_t number(const uint8_t *bytes, uint8_t count) {
  uint32_t value = 0;
  while (count-- > 0u) {
    value = (value << 8) | bytes[count];
  }
  return value;
}

static void again(void) { send(reply_kind, session, sequence, reply, reply_length); }

static void answer(uint8_t kind, uint16_t length) {
  reply_kind = kind;
  reply_length = length;
  again();
}

static void hello(uint32_t of_session, uint16_t of_sequence) {
  if (has_session != 0u && of_session == session) {
    if (of_sequence == sequence) {
      repeated++;
      again();
    } /* else an old one that was under way for long */
    return;
  }
  session = of_session;
  sequence = of_sequence;
  has_session = 1;
  reply[0] = (uint8_t)((CC_INPUT_BYTES) & 0xFF);
  reply[1] = (uint8_t)(((CC_INPUT_BYTES) >> 8) & 0xFF);
  reply[2] = (uint8_t)((CC_OUTPUT_BYTES) & 0xFF);
  reply[3] = (uint8_t)(((CC_OUTPUT_BYTES) >> 8) & 0xFF);
  answer(HELLO | ANSWER, 4);
}

static void request(uint8_t kind, uint32_t of_session, uint16_t of_sequence, const uint8_t *payload, uint16_t length) {
  if (kind == HELLO) {
    hello(of_session, of_sequence);
    return;
  }
  if (has_session == 0u || of_session != session) {
    send(LOST, of_session, of_sequence, payload, 0);
    return;
  }
  if (of_sequence == sequence) {
    repeated++;
    again();
    return;
  }
  if (of_sequence != (uint16_t)(sequence + 1u)) {
    return; /* an old request that was under way for long */
  }
  if (kind == RESET && length == 0u) {
    sequence = of_sequence;
    steps = 0;
    cc_reset(reply);
    answer(RESET | ANSWER, CC_OUTPUT_BYTES);
  } else if (kind == STEP && length == (CC_INPUT_BYTES)) {
    sequence = of_sequence;
    steps++;
    cc_step(payload, reply);
    answer(STEP | ANSWER, CC_OUTPUT_BYTES);
  }
}

/* Leave out the first byte of what has come, and all up to the next that may begin a frame. */
static void resume(void) {
  uint16_t from = 0, place;
  while (from < filled && frame[from] != START) {
    from++;
  }
  within = (uint8_t)(from < filled);
  if (within == 0u) {
    filled = 0;
    return;
  }
  from++;
  for (place = from; place < filled; place++) {
    frame[place - from] = frame[place];
  }
  filled = (uint16_t)(filled - from);
}

/* Whether the frame is whole or wrong: 0 where more bytes have to come, 1 where it was dealt with. */
static uint8_t looked_at(void) {
  uint16_t length, place;
  uint32_t crc = 0xFFFFFFFFu;
  if (filled < 2u) {
    return 0;
  }
  length = (uint16_t)number(frame, 2);
  if (length > LONGEST) {
    resume();
    return 1;
  }
  if (filled < HEAD + length + TAIL) {
    return 0;
  }
  for (place = 0; place < HEAD + length; place++) {
    crc = crc_of(crc, frame[place]);
  }
  if ((crc ^ 0xFFFFFFFFu) != number(frame + HEAD + length, 4)) {
    resume();
    return 1;
  }
  within = 0;
  filled = 0;
  request(frame[8], number(frame + 2, 4), (uint16_t)number(frame + 6, 2), frame + HEAD, length);
  return 1;
}

void cc_serial_byte(uint8_t byte) {
  if (within == 0u) {
    within = (uint8_t)(byte == START);
    filled = 0;
    return;
  }
  frame[filled++] = byte;
  while (within != 0u && looked_at() != 0u) {
  }
}

uint32_t cc_serial_steps(void) { return steps; }

uint32_t cc_serial_repeated(void) { return repeated; }
