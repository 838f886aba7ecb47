/* The twin of worker.py for programs of 32 bits, which a process of 64 bits cannot load: the job in, records out.
 *
 * Built with -m32 and started by worker.py, which has set the limits already. Its arguments: the filter of system
 * calls as hexadecimal digits, or nothing where there can be none. The job (bmc/native/narrow.py writes it) comes on
 * standard input as numbers of four bytes, lowest byte first, and texts with their length before them. Records are
 * those of worker.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { WORDS = 256, ALIGNMENT = 16, ELSEWHERE = 255 };

struct words { uint32_t word[WORDS]; }; /* passed by value, it lies on the stack as arguments do */

struct piece { uint32_t object, offset, size; uint64_t bits; };
struct layout { uint32_t count, size; struct piece *pieces; };
struct argument { uint32_t kind, size, is_signed, object, offset; uint64_t constant; };
struct call { char *address; uint32_t count; struct argument *arguments; uint32_t returns, object, size, floating; };
struct pointer { uint32_t object, offset, number, count; uint32_t *addresses; };
struct part { char *at; uint32_t size; char *kept; };

static const unsigned char *job, *job_end;
static char **objects;
static struct layout *layouts;
static struct pointer *pointers;
static uint32_t pointer_count;
static int out;

static void fail(const char *text) {
  fprintf(stderr, "%s\n", text);
  _exit(1);
}

static void *room(size_t size) {
  void *made = calloc(size ? size : 1, 1);
  if (!made) fail("there is not enough memory");
  return made;
}

static void read_job(void) {
  size_t size = 0, most = 1 << 16;
  unsigned char *data = room(most);
  for (;;) {
    ssize_t got = read(0, data + size, most - size);
    if (got < 0) fail("the job cannot be read");
    if (got == 0) break;
    size += (size_t)got;
    if (size == most && !(data = realloc(data, most *= 2))) fail("there is not enough memory");
  }
  job = data;
  job_end = data + size;
}

static uint32_t number(void) {
  uint32_t value;
  if (job_end - job < 4) fail("the job is cut off");
  memcpy(&value, job, 4);
  job += 4;
  return value;
}

static const unsigned char *bytes(uint32_t size) {
  const unsigned char *at = job;
  if ((size_t)(job_end - job) < size) fail("the job is cut off");
  job += size;
  return at;
}

static char *text(void) {
  uint32_t size = number();
  char *made = room(size + 1u);
  memcpy(made, bytes(size), size);
  return made;
}

static uint64_t wide_number(void) {
  uint64_t low = number();
  return low | (uint64_t)number() << 32;
}

static struct layout read_layout(void) {
  struct layout made = {number(), 0, 0};
  made.pieces = room(made.count * sizeof *made.pieces);
  for (uint32_t n = 0; n < made.count; n++) {
    struct piece *piece = &made.pieces[n];
    piece->object = number();
    piece->offset = number();
    piece->size = number();
    piece->bits = wide_number();
    made.size += piece->size;
  }
  return made;
}

static struct call read_call(char *base) {
  struct call made = {0};
  made.address = base + number();
  made.count = number();
  made.arguments = room(made.count * sizeof *made.arguments);
  for (uint32_t n = 0; n < made.count; n++) {
    struct argument *argument = &made.arguments[n];
    argument->kind = number();
    argument->size = number();
    argument->is_signed = number();
    argument->object = number();
    argument->offset = number();
    argument->constant = wide_number();
  }
  made.returns = number();
  made.object = number();
  made.size = number();
  made.floating = number();
  return made;
}

static void perform(const struct call *call) {
  struct words given = {{0}};
  uint32_t at = 0;
  for (uint32_t n = 0; n < call->count; n++) {
    const struct argument *argument = &call->arguments[n];
    uint64_t value = argument->constant;
    if (argument->kind == 1) value = (uint32_t)(objects[argument->object] + argument->offset);
    if (argument->kind == 2) {
      value = 0;
      memcpy(&value, objects[argument->object] + argument->offset, argument->size);
      if (argument->is_signed && argument->size < 4 && value >> (8 * argument->size - 1))
        value |= ~(uint64_t)0 << 8 * argument->size;
    }
    if (at + 2 > WORDS) fail("a call has too many arguments");
    given.word[at++] = (uint32_t)value;
    if (argument->size == 8) given.word[at++] = (uint32_t)(value >> 32);
  }
  if (!call->returns) {
    ((void (*)(struct words))call->address)(given);
  } else if (call->floating && call->size == 4) {
    float result = ((float (*)(struct words))call->address)(given);
    memcpy(objects[call->object], &result, 4);
  } else if (call->floating) {
    double result = ((double (*)(struct words))call->address)(given);
    memcpy(objects[call->object], &result, 8);
  } else {
    uint64_t result = ((uint64_t (*)(struct words))call->address)(given);
    memcpy(objects[call->object], &result, call->size);
  }
}

static void read_pointers(void) {
  for (uint32_t n = 0; n < pointer_count; n++) {
    uint32_t address, k = 0;
    memcpy(&address, objects[pointers[n].object] + pointers[n].offset, 4);
    while (k < pointers[n].count && pointers[n].addresses[k] != address) k++;
    *(unsigned char *)objects[pointers[n].number] = (unsigned char)(k < pointers[n].count ? k : ELSEWHERE);
  }
}

static void write_patches(uint32_t count) {
  while (count--) {
    const struct layout *layout = &layouts[number()];
    const unsigned char *data = bytes(number());
    for (uint32_t n = 0; n < layout->count; n++) {
      const struct piece *piece = &layout->pieces[n];
      char *to = objects[piece->object] + piece->offset;
      if (piece->bits) {
        uint64_t old = 0, new = 0;
        memcpy(&old, to, piece->size);
        memcpy(&new, data, piece->size);
        new |= old & ~piece->bits;
        memcpy(to, &new, piece->size);
      } else {
        memcpy(to, data, piece->size);
      }
      data += piece->size;
    }
  }
  for (uint32_t n = 0; n < pointer_count; n++) {
    unsigned char chosen = *(unsigned char *)objects[pointers[n].number];
    if (chosen < pointers[n].count)
      memcpy(objects[pointers[n].object] + pointers[n].offset, &pointers[n].addresses[chosen], 4);
  }
}

static void write_all(const char *data, size_t size) {
  while (size) {
    ssize_t done = write(out, data, size);
    if (done <= 0) _exit(1);
    data += done;
    size -= (size_t)done;
  }
}

static void record(const struct layout *reads, char *space) {
  char *at = space;
  for (uint32_t n = 0; n < reads->count; n++) {
    const struct piece *piece = &reads->pieces[n];
    memcpy(at, objects[piece->object] + piece->offset, piece->size);
    at += piece->size;
  }
  *at = '.';
  write_all(space, reads->size + 1u);
}

static int confine(const char *digits) {
  static struct sock_filter lines[512];
  struct sock_fprog program = {(unsigned short)(strlen(digits) / 16), lines};
  if (!program.len || program.len > 512) return 0;
  for (size_t n = 0; n < program.len * sizeof *lines; n++) {
    unsigned value;
    if (sscanf(digits + 2 * n, "%2x", &value) != 1) return 0;
    ((unsigned char *)lines)[n] = (unsigned char)value;
  }
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

int main(int count, char **given) {
  read_job();
  int nothing = open("/dev/null", O_RDWR);
  out = dup(1);
  dup2(nothing, 0);
  dup2(nothing, 1);
  int confined = confine(count > 1 ? given[1] : "");
  char *library = text(), *anchor = text();
  uint32_t anchor_address = number();
  void *loaded = dlopen(library, RTLD_NOW);
  if (!loaded) fail(dlerror());
  char *base = (char *)dlsym(loaded, anchor) - anchor_address;
  uint32_t object_count = number(), area_count = number();
  objects = room(object_count * sizeof *objects);
  uint32_t own = 0;
  struct part *parts = room((object_count + area_count) * sizeof *parts);
  for (uint32_t n = 0; n < object_count; n++) {
    uint32_t size = number(), placed = number(), address = number();
    if (placed) {
      objects[n] = placed == 1 ? base + address : (char *)address;
      if (placed == 2) parts[own++] = (struct part){objects[n], size, room(size)};
      continue;
    }
    char *made = room(size + ALIGNMENT);
    objects[n] = (char *)(((uintptr_t)made + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    parts[own++] = (struct part){objects[n], size, room(size)};
  }
  while (area_count--) {
    uint32_t address = number(), size = number();
    parts[own++] = (struct part){base + address, size, room(size)};
  }
  for (uint32_t left = number(); left; left--) {
    uint32_t object = number(), offset = number(), target = number();
    memcpy(objects[object] + offset, &objects[target], 4);
  }
  pointer_count = number();
  pointers = room(pointer_count * sizeof *pointers);
  for (uint32_t n = 0; n < pointer_count; n++) {
    struct pointer *pointer = &pointers[n];
    pointer->object = number();
    pointer->offset = number();
    pointer->number = number();
    pointer->count = number();
    pointer->addresses = room(pointer->count * sizeof *pointer->addresses);
    for (uint32_t k = 0; k < pointer->count; k++) {
      uint32_t kind = number(), object = number(), offset = number();
      char *start = kind == 1 ? base : kind == 2 ? objects[object] : 0;
      pointer->addresses[k] = kind ? (uint32_t)(start + offset) : 0;
    }
  }
  uint32_t init_count = number();
  struct call *init = room(init_count * sizeof *init);
  for (uint32_t n = 0; n < init_count; n++) init[n] = read_call(base);
  struct call step = read_call(base);
  struct layout reads = read_layout();
  uint32_t layout_count = number();
  layouts = room(layout_count * sizeof *layouts);
  for (uint32_t n = 0; n < layout_count; n++) layouts[n] = read_layout();
  char *space = room(reads.size + 1u);
  uint32_t restore = number();
  write_all(confined ? "C" : "F", 1);
  for (uint32_t n = 0; n < init_count; n++) perform(&init[n]);
  read_pointers();
  if (restore)
    for (uint32_t n = 0; n < own; n++) memcpy(parts[n].kept, parts[n].at, parts[n].size);
  write_patches(number());
  record(&reads, space);
  for (uint32_t left = number(); left; left--) {
    if (number())
      for (uint32_t n = 0; n < own; n++) memcpy(parts[n].at, parts[n].kept, parts[n].size);
    write_patches(number());
    perform(&step);
    read_pointers();
    record(&reads, space);
  }
  _exit(0);
}
