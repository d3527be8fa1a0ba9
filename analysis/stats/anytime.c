// SPDX-License-Identifier: Apache-2.0
// The mixture t-test of two samples, and how many runs it still needs.
#include "analysis/stats/anytime.h"

#include "analysis/stats/reals.h"
#include "analysis/stats/special_functions.h"

#include <math.h>

// Shifts to look for: normal around the limit with the noise's variance divided by this, so about
// three times the noise. COMPARE.md has the resulting rates.
#define PRECISION 0.1
// Of log times, as in significance.c: the resolution of whole nanoseconds.
#define LEAST_VARIANCE 1e-12

// Two samples as a t-test sees them.
struct evidence {
    double weight;   // ab / (a + b)
    double apart;    // shift - limit
    double df;       // a + b - 2
    double variance; // pooled, of one run
};

static struct evidence weigh(struct samples a, struct samples b, double limit)
{
    double m = (double)a.count, n = (double)b.count, a_mean = reals_mean(a.at, a.count),
           b_mean = reals_mean(b.at, b.count);
    double df = m + n - 2,
           squares = reals_squares(a.at, a.count, a_mean) + reals_squares(b.at, b.count, b_mean);
    return (struct evidence){.weight = m * n / (m + n),
                             .apart = b_mean - a_mean - limit,
                             .df = df,
                             .variance = fmax(squares / df, LEAST_VARIANCE)};
}

// Ratio of the likelihoods of the shift's t under the mixture and at the limit, times the mixture's
// probability of the side: the mixture over that side alone.
static double e_value(const struct evidence *evidence, double side)
{
    double shrunk = PRECISION / (PRECISION + evidence->weight);
    double squares = evidence->df * evidence->variance;
    double pull = evidence->weight * evidence->apart * evidence->apart;
    double log_ratio =
        (log(shrunk) - (evidence->df + 1) * log((squares + shrunk * pull) / (squares + pull))) / 2;
    double center = (1 - shrunk) * side * evidence->apart;
    double scale =
        sqrt((squares + shrunk * pull) / (evidence->df + 1) / (PRECISION + evidence->weight));
    double beyond = special_t_two_sided(fabs(center) / scale, evidence->df + 1) / 2;
    return 2 * exp(log_ratio) * (center > 0 ? 1 - beyond : beyond);
}

static bool decides(const struct evidence *evidence, double alpha)
{
    return fmax(e_value(evidence, -1), e_value(evidence, 1)) >= 1 / alpha;
}

static void forecast(struct anytime *anytime, struct samples a, struct samples b,
                     const struct evidence *now, double alpha)
{
    struct evidence then = *now;
    for (size_t pairs = 0; pairs <= ANYTIME_MOST_PAIRS; pairs++) {
        double m = (double)(a.count + pairs), n = (double)(b.count + pairs);
        then.weight = m * n / (m + n);
        then.df = m + n - 2;
        if (!decides(&then, alpha))
            continue;
        anytime->has_forecast = true;
        anytime->more_pairs = pairs;
        return;
    }
}

struct anytime anytime_judge(struct samples a, struct samples b, double limit, double alpha)
{
    struct anytime anytime = {.below_evidence = NAN, .above_evidence = NAN};
    if (a.count == 0 || b.count == 0 || a.count + b.count < 3 || !isfinite(limit))
        return anytime;
    struct evidence evidence = weigh(a, b, limit);
    anytime.below_evidence = e_value(&evidence, -1);
    anytime.above_evidence = e_value(&evidence, 1);
    anytime.result = anytime.below_evidence >= 1 / alpha   ? ANYTIME_BELOW
                     : anytime.above_evidence >= 1 / alpha ? ANYTIME_ABOVE
                                                           : ANYTIME_UNDECIDED;
    forecast(&anytime, a, b, &evidence, alpha);
    return anytime;
}
