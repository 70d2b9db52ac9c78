/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into a server (tests/e2e/faults.py): a disk whose syncs fail or hang, and a clock on the
 * wall that jumps. The test sets what happens through a file that is mapped here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct controls {
  volatile int64_t clock_offset; /* Seconds that the wall clock is ahead. */
  volatile int64_t hold_syncs;   /* Not 0: syncs wait until it is. */
  volatile int64_t fail_sync;    /* The sync with this number fails, and all after it. */
  volatile int64_t syncs;        /* Of the server, so far. */
  volatile int64_t held;         /* Syncs that wait now. */
  volatile int64_t read_only;    /* Not 0: the database cannot be written. */
};

static struct controls none;
static struct controls* controls = &none;
static int is_server;

static int (*real_clock_gettime)(clockid_t, struct timespec*);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static ssize_t (*real_pwrite)(int, const void*, size_t, off64_t);

/* The disk is the server's: nodes and jobs share only the clock. */
static int second_word_is(const char* wanted) {
  char words[4096];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = read(file, words, sizeof words - 1);
  close(file);
  if (size <= 0) return 0;
  words[size] = 0;
  const size_t first = strlen(words) + 1;
  return first < (size_t)size && strcmp(words + first, wanted) == 0;
}

__attribute__((constructor)) static void begin(void) {
  real_clock_gettime = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  real_fsync = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  real_pwrite = (ssize_t(*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  const char* const path = getenv("LD_TEST_FAULTS"); /* Agents inherit what begins with LD_. */
  const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* const mapped = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) controls = mapped;
  is_server = second_word_is("server");
}

static int sync_by(int (*real)(int), int file) {
  if (!is_server) return real(file);
  const int64_t number = __sync_add_and_fetch(&controls->syncs, 1);
  __sync_add_and_fetch(&controls->held, 1);
  while (controls->hold_syncs) usleep(1000);
  __sync_sub_and_fetch(&controls->held, 1);
  if (controls->fail_sync && number >= controls->fail_sync) {
    errno = EIO;
    return -1;
  }
  return real(file);
}

int fsync(int file) { return sync_by(real_fsync, file); }
int fdatasync(int file) { return sync_by(real_fdatasync, file); }

/* As a file system does that the kernel made read-only after an error. SQLite writes with this one. */
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  if (!is_server || !controls->read_only) return real_pwrite(file, bytes, size, at);
  errno = EROFS;
  return -1;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (!real_clock_gettime) begin();
  const int result = real_clock_gettime(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += controls->clock_offset;
  return result;
}

time_t time(time_t* into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* now, void* zone) {
  (void)zone;
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}
