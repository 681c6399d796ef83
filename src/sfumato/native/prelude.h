/* What translated loops are written with: room to work in, arrays, and the arithmetic of Python. */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Room: arrays that a loop makes lie in chunks; a loop gives back what it took when it returns. */
typedef struct Chunk { struct Chunk *before; size_t size, used; } Chunk;
typedef struct { Chunk *top; jmp_buf escape; } Room;
typedef struct { Chunk *top; size_t used; } Mark;
#define CHUNK 65536

static __attribute__((noinline)) void *take_chunk(Room *room, size_t bytes) {
  size_t size = bytes > CHUNK ? bytes : CHUNK;
  Chunk *chunk = malloc(sizeof(Chunk) + 16 + size);
  if (!chunk) longjmp(room->escape, 1);
  chunk->before = room->top, chunk->size = size, chunk->used = bytes, room->top = chunk;
  return (void *)(((uintptr_t)(chunk + 1) + 15) & ~(uintptr_t)15);
}
static inline void *take(Room *room, int64_t many, size_t width) {
  size_t bytes = many <= 0 ? 0 : (((size_t)many * width) + 15) & ~(size_t)15;
  Chunk *top = room->top;
  if (top && top->size - top->used >= bytes) {
    char *place = (char *)(((uintptr_t)(top + 1) + 15) & ~(uintptr_t)15) + top->used;
    top->used += bytes;
    return place;
  }
  return take_chunk(room, bytes);
}
static inline Mark mark(Room *room) {
  return (Mark){room->top, room->top ? room->top->used : 0};
}
static inline void release(Room *room, Mark to) {
  while (room->top != to.top) {
    Chunk *before = room->top->before;
    /* The first chunk stays: loops that are called often find it. */
    if (!before && !to.top) { room->top->used = 0; return; }
    free(room->top);
    room->top = before;
  }
  if (room->top) room->top->used = to.used;
}
static inline void leave(Room *room) {
  while (room->top) { Chunk *before = room->top->before; free(room->top); room->top = before; }
}

/* The arithmetic of Python: division rounds down, the lesser of two is the first where they are equal. */
static inline int64_t floor_div_i8(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - ((a % b != 0) & ((a < 0) != (b < 0)));
}
static inline int64_t floor_mod_i8(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r + (((r != 0) & ((r < 0) != (b < 0))) ? b : 0);
}
#define BOTH(K, T) \
  static inline T min_##K(T a, T b) { return b < a ? b : a; } \
  static inline T max_##K(T a, T b) { return b > a ? b : a; }
BOTH(i8, int64_t)
BOTH(u8, uint64_t)
BOTH(f8, double)
static inline int64_t abs_i8(int64_t a) { return a < 0 ? -a : a; }

static inline int64_t clip_i8(int64_t a, int64_t low, int64_t high) { return a < low ? low : a > high ? high : a; }

/* Arrays: where they begin, how long each dimension is, and how far its members lie apart; 1 in the last one. */
#define ARRAYS(K, T) \
  typedef struct { T *d; int64_t n0; } Array_##K##x1; \
  typedef struct { T *d; int64_t n0, n1, s0; } Array_##K##x2; \
  typedef struct { T *d; int64_t n0, n1, n2, s0, s1; } Array_##K##x3; \
  static inline Array_##K##x1 new_##K##x1(Room *room, int clear, int64_t n0) { \
    T *d = take(room, n0, sizeof(T)); \
    if (clear && n0 > 0) memset(d, 0, n0 * sizeof(T)); \
    return (Array_##K##x1){d, n0}; } \
  static inline Array_##K##x2 new_##K##x2(Room *room, int clear, int64_t n0, int64_t n1) { \
    Array_##K##x1 flat = new_##K##x1(room, clear, n0 * n1); \
    return (Array_##K##x2){flat.d, n0, n1, n1}; } \
  static inline Array_##K##x3 new_##K##x3(Room *room, int clear, int64_t n0, int64_t n1, int64_t n2) { \
    Array_##K##x1 flat = new_##K##x1(room, clear, n0 * n1 * n2); \
    return (Array_##K##x3){flat.d, n0, n1, n2, n1 * n2, n2}; } \
  static inline void fill_##K##x1(Array_##K##x1 to, T value) { \
    for (int64_t i = 0; i < to.n0; i++) to.d[i] = value; } \
  static inline void fill_##K##x2(Array_##K##x2 to, T value) { \
    for (int64_t i = 0; i < to.n0; i++) fill_##K##x1((Array_##K##x1){to.d + i * to.s0, to.n1}, value); } \
  static inline void copy_##K##x1(Array_##K##x1 to, Array_##K##x1 from) { \
    if (to.n0 > 0) memmove(to.d, from.d, to.n0 * sizeof(T)); } \
  static inline void copy_##K##x2(Array_##K##x2 to, Array_##K##x2 from) { \
    for (int64_t i = 0; i < to.n0; i++) \
      if (to.n1 > 0) memmove(to.d + i * to.s0, from.d + i * from.s0, to.n1 * sizeof(T)); } \
  static inline Array_##K##x1 twin_##K##x1(Room *room, Array_##K##x1 from) { \
    Array_##K##x1 to = new_##K##x1(room, 0, from.n0); \
    copy_##K##x1(to, from); \
    return to; } \
  static inline Array_##K##x2 twin_##K##x2(Room *room, Array_##K##x2 from) { \
    Array_##K##x2 to = new_##K##x2(room, 0, from.n0, from.n1); \
    copy_##K##x2(to, from); \
    return to; } \
  static inline Array_##K##x1 flat_##K##x2(Array_##K##x2 from) { return (Array_##K##x1){from.d, from.n0 * from.n1}; } \
  static inline T most_##K##x1(Array_##K##x1 from) { \
    T most = from.d[0]; \
    for (int64_t i = 1; i < from.n0; i++) most = from.d[i] > most ? from.d[i] : most; \
    return most; } \
  static inline T least_##K##x1(Array_##K##x1 from) { \
    T least = from.d[0]; \
    for (int64_t i = 1; i < from.n0; i++) least = from.d[i] < least ? from.d[i] : least; \
    return least; } \
  static void sift_##K(T *d, int64_t at, int64_t n) { \
    for (int64_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) { \
      if (child + 1 < n && d[child] < d[child + 1]) child++; \
      if (!(d[at] < d[child])) return; \
      T kept = d[at]; d[at] = d[child]; d[child] = kept; } } \
  static void quick_##K(T *d, int64_t n, int depth) { \
    while (n > 16) { \
      if (depth-- == 0) { \
        for (int64_t i = n / 2 - 1; i >= 0; i--) sift_##K(d, i, n); \
        for (int64_t end = n - 1; end > 0; end--) { T kept = d[0]; d[0] = d[end]; d[end] = kept; sift_##K(d, 0, end); } \
        return; } \
      T a = d[0], b = d[n / 2], c = d[n - 1]; \
      T middle = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b)); \
      int64_t i = 0, j = n - 1; \
      while (i <= j) { \
        while (d[i] < middle) i++; \
        while (middle < d[j]) j--; \
        if (i <= j) { T kept = d[i]; d[i] = d[j]; d[j] = kept; i++, j--; } } \
      if (j + 1 < n - i) { quick_##K(d, j + 1, depth); d += i, n -= i; } \
      else { quick_##K(d + i, n - i, depth); n = j + 1; } } \
    for (int64_t i = 1; i < n; i++) { \
      T kept = d[i]; \
      int64_t j = i; \
      for (; j > 0 && kept < d[j - 1]; j--) d[j] = d[j - 1]; \
      d[j] = kept; } } \
  static inline void sort_##K##x1(Array_##K##x1 to) { \
    int depth = 2; \
    for (int64_t n = to.n0; n > 1; n /= 2) depth += 2; \
    quick_##K(to.d, to.n0, depth); } \
  static inline Array_##K##x1 sorted_##K##x1(Room *room, Array_##K##x1 from) { \
    Array_##K##x1 to = twin_##K##x1(room, from); \
    sort_##K##x1(to); \
    return to; } \
  static Array_##K##x1 parted_##K##x1(Room *room, Array_##K##x1 from, int64_t nth) { \
    Array_##K##x1 to = twin_##K##x1(room, from); \
    T *d = to.d; \
    int64_t low = 0, high = to.n0 - 1; \
    while (low < high) { \
      T middle = d[(low + high) / 2]; \
      int64_t i = low, j = high; \
      while (i <= j) { \
        while (d[i] < middle) i++; \
        while (middle < d[j]) j--; \
        if (i <= j) { T kept = d[i]; d[i] = d[j]; d[j] = kept; i++, j--; } } \
      if (nth <= j) high = j; \
      else if (nth >= i) low = i; \
      else break; } \
    return to; } \
  static inline int64_t place_##K##x1(Array_##K##x1 from, T value) { \
    int64_t low = 0, high = from.n0; \
    while (low < high) { \
      int64_t middle = (low + high) / 2; \
      if (from.d[middle] < value) low = middle + 1; \
      else high = middle; } \
    return low; }
ARRAYS(b1, uint8_t)
ARRAYS(u1, uint8_t)
ARRAYS(i1, int8_t)
ARRAYS(i2, int16_t)
ARRAYS(i4, int32_t)
ARRAYS(i8, int64_t)
ARRAYS(u4, uint32_t)
ARRAYS(u8, uint64_t)
ARRAYS(f8, double)

/* Eight bytes as one number, the first the least. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LEAST_FIRST(word) __builtin_bswap64(word)
#else
#define LEAST_FIRST(word) (word)
#endif
static inline uint64_t word_at(Room *room, Array_u1x1 data, int64_t place) {
  uint64_t word;
  memcpy(&word, data.d + place, sizeof word);
  return LEAST_FIRST(word);
}
static inline void put_word(Room *room, Array_u1x1 data, int64_t place, uint64_t word) {
  word = LEAST_FIRST(word);
  memcpy(data.d + place, &word, sizeof word);
}

static inline Array_i8x1 nonzero_b1x1(Room *room, Array_b1x1 from) {
  int64_t many = 0;
  for (int64_t i = 0; i < from.n0; i++) many += from.d[i] != 0;
  Array_i8x1 to = new_i8x1(room, 0, many);
  for (int64_t i = 0, at = 0; at < many; i++)
    if (from.d[i]) to.d[at++] = i;
  return to;
}
