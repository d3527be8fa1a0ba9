// SPDX-License-Identifier: Apache-2.0
#include "analysis/names/role_name.h"

#include <string.h>

enum { MOST_NAME = 64 }; // bytes of a role, and of the names looked at

// Words of the names that verl, OpenRLHF, NeMo RL, TRL and slime give to their ranges. What comes
// first wins: "compute_ref_log_prob" of the actor's worker is the reference.
static const struct {
    const char *word, *role;
} words[] = {
    {"generate", "generation"}, {"generation", "generation"}, {"gen", "generation"},
    {"rollout", "generation"},  {"rollouts", "generation"},   {"ref", "reference"},
    {"reference", "reference"}, {"reward", "reward"},         {"rewards", "reward"},
    {"rm", "reward"},           {"critic", "critic"},         {"values", "critic"},
    {"policy", "policy"},       {"actor", "policy"},
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool has_word(struct str text, struct str word)
{
    for (size_t from = 0, to; from < text.len; from = to + 1) {
        to = from;
        while (to < text.len && is_word(text.at[to]))
            to++;
        if (str_equal_nocase((struct str){text.at + from, to - from}, word))
            return true;
    }
    return false;
}

struct str role_name_of(struct str range)
{
    size_t given = strlen("role=");
    if (range.len > MOST_NAME)
        return (struct str){NULL, 0};
    if (range.len > given && str_equal_nocase((struct str){range.at, given}, STR("role=")))
        return (struct str){range.at + given, range.len - given};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(range, str_of(words[i].word)))
            return str_of(words[i].role);
    return (struct str){NULL, 0};
}
