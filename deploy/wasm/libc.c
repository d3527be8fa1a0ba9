// SPDX-License-Identifier: Apache-2.0
// Calls that wasi-libc lacks, by paths that the module's files know (web/standalone/wasi.mjs).
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...)
{
    (void)number;
    errno = ENOSYS;
    return -1;
}

int memfd_create(const char *name, unsigned flags)
{
    (void)name, (void)flags;
    return open("/tmp", O_TMPFILE | O_RDWR);
}

// Its position is not shared with the first one's.
int dup(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    return open(path, O_RDWR);
}

// Stable, as glibc's is where memory allows it: the order of equal rows is the service's, too.
struct sorting {
    size_t size;
    int (*compare)(const void *left, const void *right, void *context);
    void *context;
};

// Sorts `from`, by way of `spare` of the same size.
static void merge_sort(const struct sorting *how, char *from, char *spare, size_t count)
{
    size_t half = count / 2, size = how->size;
    if (count < 2)
        return;
    merge_sort(how, from, spare, half);
    merge_sort(how, from + half * size, spare, count - half);
    memcpy(spare, from, half * size);
    char *left = spare, *left_end = spare + half * size;
    char *right = from + half * size, *right_end = from + count * size;
    while (left < left_end) {
        bool takes_right = right < right_end && how->compare(left, right, how->context) > 0;
        memmove(from, takes_right ? right : left, size);
        *(takes_right ? &right : &left) += size;
        from += size;
    }
}

void qsort_r(void *base, size_t count, size_t size,
             int (*compare)(const void *left, const void *right, void *context), void *context)
{
    struct sorting how = {size, compare, context};
    char *spare = malloc(count / 2 * size + 1);
    if (!spare)
        abort();
    merge_sort(&how, base, spare, count);
    free(spare);
}
