// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/log_once.h"

enum { MOST_RANKS = 1024 };

#define AT_ONCE_NS INT64_C(1000000000) // ranks print the same within this time

struct teller {
    int64_t rank;
    size_t events[LOG_EVENT_KINDS];
};

struct tellers {
    struct teller *at;
    size_t count;
};

static void count_event(struct tellers *tellers, const struct log_event *event)
{
    size_t i = 0;
    while (i < tellers->count && tellers->at[i].rank != event->rank)
        i++;
    if (i == MOST_RANKS)
        return;
    if (i == tellers->count)
        tellers->at[tellers->count++].rank = event->rank;
    tellers->at[i].events[event->kind]++;
}

static int64_t rank_of_kind(const struct tellers *tellers, unsigned kind)
{
    size_t most = 0;
    for (size_t i = 1; i < tellers->count; i++)
        if (tellers->at[i].events[kind] > tellers->at[most].events[kind])
            most = i;
    return tellers->at[most].rank;
}

// Each rank prints its own times and durations.
static bool same_but_for_numbers(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    while (i < a.len && j < b.len) {
        if (str_is_digit(a.at[i]) && str_is_digit(b.at[j])) {
            i = str_digits_end(a, i);
            j = str_digits_end(b, j);
        } else if (a.at[i++] != b.at[j++]) {
            return false;
        }
    }
    return i == a.len && j == b.len;
}

static bool repeats(const struct log_event *before, const struct log_event *event)
{
    int64_t apart_ns;
    if (before->after_step != event->after_step)
        return false;
    if (before->time_ns == LOG_NO_TIME || event->time_ns == LOG_NO_TIME)
        return str_equal(before->text, event->text);
    return !__builtin_sub_overflow(event->time_ns, before->time_ns, &apart_ns) &&
           apart_ns > -AT_ONCE_NS && apart_ns < AT_ONCE_NS &&
           same_but_for_numbers(before->text, event->text);
}

static void choose(const struct log_book *book, const struct tellers *tellers,
                   struct log_book *once)
{
    const struct log_event *last[LOG_EVENT_KINDS] = {NULL};
    int64_t ranks[LOG_EVENT_KINDS];
    once->event_count = 0;
    for (unsigned kind = 0; kind < LOG_EVENT_KINDS; kind++)
        ranks[kind] = rank_of_kind(tellers, kind);
    for (size_t i = 0; i < book->event_count; i++) {
        const struct log_event *event = &book->events[i], *before = last[event->kind];
        bool again = event->rank != ranks[event->kind] || (before && repeats(before, event));
        if (again && event->kind != LOG_FAULT)
            continue;
        once->events[once->event_count] = *event;
        last[event->kind] = &once->events[once->event_count++];
    }
}

bool log_once(const struct log_book *book, int64_t rank, struct arena *arena, struct log_book *once,
              struct err *err)
{
    struct tellers tellers = {arena_array(arena, MOST_RANKS, sizeof *tellers.at, err), 1};
    *once = *book;
    once->events = arena_array(arena, book->event_count + 1, sizeof *once->events, err);
    if (!tellers.at || !once->events)
        return false;
    tellers.at[0].rank = rank;
    for (size_t i = 0; i < book->event_count; i++)
        count_event(&tellers, &book->events[i]);
    choose(book, &tellers, once);
    return true;
}
