// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/windows.h"

#include <stdlib.h>

#define RECORDING_ENDING   STR(".pt.trace.json")
#define FEWEST_TIME_DIGITS 10

// --- folders ------------------------------------------------------------------------------------

static bool is_window(struct str folder)
{
    static const char *const words[] = {"iteration_", "step_"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct str word = str_of(words[i]);
        if (!str_starts_with(folder, word) || folder.len == word.len || folder.len > word.len + 18)
            continue;
        if (str_digits_end(folder, word.len) == folder.len)
            return true;
    }
    return false;
}

// The innermost folder that names a window, "" none.
static struct str folder_of(struct str path)
{
    struct str window = STR("");
    for (size_t at = 0, start = 0; at < path.len; at++) {
        if (path.at[at] != '/')
            continue;
        struct str folder = {path.at + start, at - start};
        window = is_window(folder) ? folder : window;
        start = at + 1;
    }
    return window;
}

// Returns how many windows there are, as far as two.
static unsigned find_folders(const struct member_list *members, struct str *windows)
{
    struct str first = STR("");
    unsigned count = 0;
    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->at[i];
        windows[i] = member->kind == MEMBER_TRACE ? folder_of(member->name) : STR("");
        if (windows[i].len == 0)
            continue;
        count = count == 0 ? 1 : str_equal(first, windows[i]) ? count : 2;
        first = first.len ? first : windows[i];
    }
    return count;
}

// --- repeated recordings ------------------------------------------------------------------------

struct recording {
    struct str process, time; // the path up to the time, the digits of the time
    size_t member;
    size_t number; // of its window
};

static bool is_recording(const struct member *member, struct recording *recording)
{
    struct str path = member->name;
    size_t end = str_find(path, RECORDING_ENDING);
    if (member->kind != MEMBER_TRACE || end >= path.len)
        return false;
    size_t start = str_digits_start(path, end);
    if (end - start < FEWEST_TIME_DIGITS || start == 0 || path.at[start - 1] != '.')
        return false;
    recording->process = (struct str){path.at, start - 1};
    recording->time = (struct str){path.at + start, end - start};
    return true;
}

static int by_process_and_time(const void *left, const void *right)
{
    const struct recording *a = left, *b = right;
    int order = str_compare(a->process, b->process);
    if (order == 0 && a->time.len != b->time.len)
        order = a->time.len < b->time.len ? -1 : 1;
    if (order == 0)
        order = str_compare(a->time, b->time);
    return order ? order : a->member < b->member ? -1 : a->member > b->member;
}

// Numbers the recordings of each process by their times, from 1; one that is there twice, such as
// with and without compression, counts once. Returns how many each process has, 0 if not all have
// the same number: then the recordings of one process cannot be matched to those of another.
static size_t number_recordings(struct recording *recordings, size_t count)
{
    size_t common = 0;
    for (size_t i = 0; i < count; i++) {
        struct recording *recording = &recordings[i];
        const struct recording *before = recording - 1;
        if (i == 0 || !str_equal(before->process, recording->process))
            recording->number = 1;
        else
            recording->number = before->number + !str_equal(before->time, recording->time);
        bool is_last = i + 1 == count || !str_equal(recordings[i + 1].process, recording->process);
        if (is_last && common && common != recording->number)
            return 0;
        common = is_last ? recording->number : common;
    }
    return common;
}

static bool name_repeats(const struct recording *recordings, size_t count, struct str *windows,
                         struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct recording *recording = &recordings[i];
        char *name = arena_printf(arena, err, "window_%zu", recording->number);
        if (!name)
            return false;
        windows[recording->member] = str_of(name);
    }
    return true;
}

static bool find_repeats(const struct member_list *members, struct str *windows,
                         struct arena *arena, struct err *err)
{
    size_t count = 0;
    struct recording *recordings = arena_array(arena, members->count, sizeof *recordings, err);
    if (!recordings)
        return false;
    for (size_t i = 0; i < members->count; i++)
        if (is_recording(&members->at[i], &recordings[count]))
            recordings[count++].member = i;
    qsort(recordings, count, sizeof *recordings, by_process_and_time);
    return number_recordings(recordings, count) < 2 ||
           name_repeats(recordings, count, windows, arena, err);
}

struct str *windows_of(const struct member_list *members, struct arena *arena, struct err *err)
{
    struct str *windows = arena_array(arena, members->count, sizeof *windows, err);
    if (!windows)
        return NULL;
    if (find_folders(members, windows) > 1)
        return windows;
    for (size_t i = 0; i < members->count; i++)
        windows[i] = STR("");
    return find_repeats(members, windows, arena, err) ? windows : NULL;
}
