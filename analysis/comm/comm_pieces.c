// SPDX-License-Identifier: Apache-2.0
// Keeps a short list per call; the two pieces with the least between them are joined first.
#include "analysis/comm/comm_pieces.h"

bool comm_pieces_open(struct comm_pieces *pieces, uint32_t calls, struct arena *arena,
                      struct err *err)
{
    *pieces = (struct comm_pieces){arena, arena_array(arena, calls, sizeof *pieces->of, err)};
    return pieces->of != NULL;
}

// By how much a sum may be off inside the two if they are joined. Sums by step must not be off.
static int64_t loss_of(const struct comm_piece *a, const struct comm_piece *b)
{
    int64_t exposed_ns = a->exposed_ns + b->exposed_ns;
    int64_t hidden_ns = b->end_ns - a->begin_ns - exposed_ns;
    if (a->step != b->step)
        return INT64_MAX;
    return exposed_ns < hidden_ns ? exposed_ns : hidden_ns;
}

static struct comm_piece *join_cheapest(struct comm_piece *first)
{
    struct comm_piece *best = first;
    for (struct comm_piece *at = first; at->next; at = at->next)
        if (loss_of(at, at->next) < loss_of(best, best->next))
            best = at;
    struct comm_piece *gone = best->next;
    best->end_ns = gone->end_ns;
    best->exposed_ns += gone->exposed_ns;
    best->next = gone->next;
    return gone;
}

bool comm_pieces_add(struct comm_pieces *pieces, uint32_t call, struct comm_piece piece,
                     struct err *err)
{
    int64_t length_ns = piece.end_ns - piece.begin_ns;
    struct comm_piece *first = pieces->of[call], *last = first;
    uint32_t count = first != NULL;
    for (; last && last->next; last = last->next)
        count++;
    if (last && last->end_ns == piece.begin_ns && last->step == piece.step &&
        last->exposed_ns == last->end_ns - last->begin_ns) {
        last->end_ns = piece.end_ns;
        last->exposed_ns += length_ns;
        return true;
    }
    struct comm_piece *added = count == COMM_PIECES_MAX
                                   ? join_cheapest(first)
                                   : arena_array(pieces->arena, 1, sizeof *added, err);
    if (!added)
        return false;
    *added = (struct comm_piece){piece.begin_ns, piece.end_ns, length_ns, piece.step, NULL};
    for (last = first; last && last->next;)
        last = last->next;
    *(last ? &last->next : &pieces->of[call]) = added;
    return true;
}

void comm_pieces_put(const struct comm_pieces *pieces, uint32_t call, struct buf *text)
{
    const struct comm_piece *piece = pieces->of[call];
    for (bool first = true; piece; piece = piece->next, first = false) {
        int64_t length_ns = piece->end_ns - piece->begin_ns;
        if (!first)
            buf_putc(text, ' ');
        buf_i64(text, piece->begin_ns);
        buf_putc(text, '+');
        buf_i64(text, length_ns);
        if (piece->exposed_ns == length_ns)
            continue;
        buf_putc(text, '/');
        buf_i64(text, piece->exposed_ns);
    }
}

// A number of too few digits to overflow.
static int64_t number(const char **at)
{
    int64_t value = 0;
    for (int digits = 0; str_is_digit(**at) && digits < 18; digits++)
        value = 10 * value + (*(*at)++ - '0');
    return value;
}

bool comm_pieces_next(const char **text, struct comm_piece *piece)
{
    if (**text < '0' || **text > '9')
        return false;
    int64_t length_ns = 0;
    piece->begin_ns = number(text);
    if (**text == '+') {
        ++*text;
        length_ns = number(text);
    }
    piece->end_ns = piece->begin_ns + length_ns;
    piece->exposed_ns = length_ns;
    if (**text == '/') {
        ++*text;
        piece->exposed_ns = number(text);
    }
    *text += **text == ' ';
    return true;
}

int64_t comm_piece_before(const struct comm_piece *piece, int64_t until_ns)
{
    int64_t length_ns = piece->end_ns - piece->begin_ns;
    if (until_ns >= piece->end_ns)
        return piece->exposed_ns;
    if (until_ns <= piece->begin_ns)
        return 0;
    return piece->exposed_ns == length_ns
               ? until_ns - piece->begin_ns
               : (int64_t)((double)piece->exposed_ns *
                           ((double)(until_ns - piece->begin_ns) / (double)length_ns));
}

int64_t comm_pieces_before(const char *text, int64_t until_ns)
{
    struct comm_piece piece;
    int64_t sum_ns = 0;
    while (comm_pieces_next(&text, &piece))
        sum_ns += comm_piece_before(&piece, until_ns);
    return sum_ns;
}
