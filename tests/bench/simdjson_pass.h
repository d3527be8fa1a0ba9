// SPDX-License-Identifier: Apache-2.0
// simdjson On-Demand over the events of a trace, as a yardstick for our own scan.
#ifndef BENCH_SIMDJSON_PASS_H
#define BENCH_SIMDJSON_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMDJSON_PASS_PADDING 64 // bytes after the text that simdjson may read

struct simdjson_pass;

// What was read, so that no read can be optimized away.
struct simdjson_sums {
    uint64_t events, text_bytes, numbers;
    double time_us;
};

#ifdef __cplusplus
extern "C" {
#endif

// A parser that keeps its memory between runs. NULL when out of memory.
struct simdjson_pass *simdjson_pass_new(void);
void simdjson_pass_free(struct simdjson_pass *pass); // NULL is allowed

// What a pass reads from an event.
enum simdjson_fields {
    // ts, dur, name and cat; correlation, stream and device from the args of any event.
    SIMDJSON_FEW,
    // Every value our reader keeps of an event of its category, and nothing else: numbers as
    // numbers, texts and lists of inputs as raw text.
    SIMDJSON_SAME,
};

// False if simdjson finds the text damaged; *why is its message.
bool simdjson_pass_run(struct simdjson_pass *pass, const char *text, size_t len,
                       enum simdjson_fields fields, struct simdjson_sums *sums, const char **why);

// Name of the instruction set simdjson chose.
const char *simdjson_pass_variant(void);

#ifdef __cplusplus
}
#endif

#endif
