/* What a function of the C library for 32 bits yields: the arguments are its name, the bits of its type, and patterns
 * as hexadecimal digits; the pattern of the result comes out. Without arguments the version of the library does.
 */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  uint64_t patterns[2] = {0}, result = 0;
  if (argc < 2) return printf("%s", gnu_get_libc_version()) < 0;
  void *library = dlopen("libm.so.6", RTLD_NOW), *function = library ? dlsym(library, argv[1]) : NULL;
  if (!function || argc < 4 || argc > 5) return 1;
  for (int i = 3; i < argc; i++) patterns[i - 3] = strtoull(argv[i], NULL, 16);
  if (!strcmp(argv[2], "32")) {
    float a[2], made;
    for (int i = 0; i < 2; i++) {
      uint32_t pattern = (uint32_t)patterns[i];
      memcpy(&a[i], &pattern, sizeof pattern);
    }
    made = argc == 4 ? ((float (*)(float))function)(a[0]) : ((float (*)(float, float))function)(a[0], a[1]);
    uint32_t pattern;
    memcpy(&pattern, &made, sizeof pattern);
    result = pattern;
  } else {
    double a[2], made;
    memcpy(a, patterns, sizeof a);
    made = argc == 4 ? ((double (*)(double))function)(a[0]) : ((double (*)(double, double))function)(a[0], a[1]);
    memcpy(&result, &made, sizeof result);
  }
  return printf("%" PRIx64, result) < 0;
}
