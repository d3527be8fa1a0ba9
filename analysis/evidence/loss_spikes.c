// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/loss_spikes.h"

#include <math.h>
#include <string.h>

#define DEVIATIONS  6.0
#define LEAST_SHARE 0.02
#define SIGMA       1.4826 // of a normal distribution, in median absolute deviations

// Of the k values nearest to the median, the distance of the farthest: the sorted values give them
// without sorting the distances.
static double median_deviation(const struct loss_window *window, double median)
{
    size_t low = 0, high = window->count;
    for (size_t away = window->count - (window->count / 2 + 1); away > 0; away--)
        if (median - window->sorted[low] > window->sorted[high - 1] - median)
            low++;
        else
            high--;
    return fmax(median - window->sorted[low], window->sorted[high - 1] - median);
}

static bool is_spike(const struct loss_window *window, double loss)
{
    double median = window->sorted[(window->count - 1) / 2];
    double over = loss - median;
    return window->count >= LOSS_LEAST && over > LEAST_SHARE * fabs(median) &&
           over > DEVIATIONS * SIGMA * median_deviation(window, median);
}

static size_t place_of(const struct loss_window *window, double loss)
{
    size_t place = 0;
    while (place < window->count && window->sorted[place] < loss)
        place++;
    return place;
}

static void remove_oldest(struct loss_window *window)
{
    size_t place = place_of(window, window->latest[window->next]);
    window->count--;
    memmove(&window->sorted[place], &window->sorted[place + 1],
            (window->count - place) * sizeof *window->sorted);
}

static void add(struct loss_window *window, double loss)
{
    if (window->count == LOSS_WINDOW)
        remove_oldest(window);
    size_t place = place_of(window, loss);
    memmove(&window->sorted[place + 1], &window->sorted[place],
            (window->count - place) * sizeof *window->sorted);
    window->sorted[place] = loss;
    window->count++;
    window->latest[window->next] = loss;
    window->next = (window->next + 1) % LOSS_WINDOW;
}

bool loss_spikes(struct loss_window *window, double loss)
{
    bool spike = window->count && is_spike(window, loss);
    add(window, loss);
    return spike;
}
