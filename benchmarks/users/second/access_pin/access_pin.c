/*
 * access_pin.c - door with keypad: four-digit PINs, lockout that doubles,
 * event memory.  20 ms task.
 */
#include <stdbool.h>
#include <stdint.h>

#define NKEY        15      /* no key pressed */
#define STAR        10
#define HASH        11
#define PIN_LEN     4
#define N_USERS     3
#define ENTRY_T     250     /* 5 s between keys */
#define UNLOCK_T    150
#define OPEN_T      1500    /* door open for 30 s */
#define LOCKOUT_T   250     /* 5 s, doubles up to 40 s */
#define MAX_LEVEL   3
#define MAX_WRONG   3
#define EV_LEN      8

enum event { EV_NONE, EV_GRANT, EV_WRONG, EV_LOCKOUT, EV_FORCED, EV_OPEN, EV_DURESS };

static const uint8_t pin[N_USERS][PIN_LEN] = {
    { 2, 5, 8, 0 }, { 1, 9, 7, 4 }, { 2, 5, 0, 0 }
};

static struct {
    uint8_t  digit[PIN_LEN];
    uint8_t  n;             /* digits entered, up to PIN_LEN + 1 */
    uint8_t  last_key;
    uint16_t entry_t;
    uint8_t  wrong;
    uint8_t  level;
    uint16_t lockout;
    uint16_t unlock;
    uint16_t open_t;
    bool     door_was_open;
    uint8_t  user;          /* 1.., who came in last */
} a;

static struct { uint8_t ev[EV_LEN], head, n; } events;

static bool strike, buzzer;

static void record(enum event e)
{
    events.ev[events.head] = (uint8_t)e;
    events.head = (uint8_t)((events.head + 1) % EV_LEN);
    if (events.n < EV_LEN)
        events.n++;
}

static uint8_t find_user(void)
{
    uint8_t u, i;

    if (a.n != PIN_LEN)
        return 0;
    for (u = 0; u < N_USERS; u++) {
        for (i = 0; i < PIN_LEN; i++)
            if (a.digit[i] != pin[u][i])
                break;
        if (i == PIN_LEN)
            return (uint8_t)(u + 1);
    }
    return 0;
}

static void check_pin(void)
{
    uint8_t u = find_user();

    a.n = 0;
    if (u > 0) {
        a.user = u;
        a.wrong = 0;
        a.level = 0;
        a.unlock = UNLOCK_T;
        record(u == N_USERS ? EV_DURESS : EV_GRANT);
    } else if (++a.wrong >= MAX_WRONG) {
        a.wrong = 0;
        a.lockout = (uint16_t)(LOCKOUT_T << a.level);
        if (a.level < MAX_LEVEL)
            a.level++;
        record(EV_LOCKOUT);
    } else {
        record(EV_WRONG);
    }
}

static void key_pressed(uint8_t key)
{
    a.entry_t = 0;
    if (key == STAR) {
        a.n = 0;
    } else if (key == HASH) {
        check_pin();
    } else if (key < 10) {
        if (a.n < PIN_LEN)
            a.digit[a.n] = key;
        if (a.n <= PIN_LEN)
            a.n++;
    }
}

void access_init(void)
{
    a.last_key = NKEY;
    a.n = a.wrong = a.level = a.user = 0;
    a.entry_t = a.lockout = a.unlock = a.open_t = 0;
    a.door_was_open = false;
    events.head = events.n = 0;
}

void access_task(uint8_t key, bool door_open, bool exit_btn)
{
    if (a.unlock > 0)
        a.unlock--;
    if (a.lockout > 0)
        a.lockout--;
    else if (key != NKEY && a.last_key == NKEY)
        key_pressed(key);
    else if (a.n > 0 && ++a.entry_t >= ENTRY_T)
        a.n = 0;
    a.last_key = key;

    if (exit_btn)
        a.unlock = UNLOCK_T;

    if (door_open) {
        if (!a.door_was_open && a.unlock == 0)
            record(EV_FORCED);
        if (a.open_t < OPEN_T && ++a.open_t == OPEN_T)
            record(EV_OPEN);
        if (!a.door_was_open)
            a.unlock = 0;               /* strike off as soon as it opens */
    } else {
        a.open_t = 0;
    }
    a.door_was_open = door_open;

    strike = a.unlock > 0;
    buzzer = a.open_t == OPEN_T || a.lockout > 0;
}
