// SPDX-License-Identifier: Apache-2.0
// Versions are read from members that Kineto writes, and from a record of torch's environment
// inside another member. Of the latter only the fields named here are read: it may contain secrets.
#include "analysis/trace/platform.h"

#include "analysis/facts/member_json.h"

// --- flavour ------------------------------------------------------------------------------------

static const char *flavour_of_call(struct str name)
{
    if (str_starts_with(name, STR("hip")))
        return "rocm";
    return str_starts_with(name, STR("cu")) ? "cuda" : NULL; // cudaLaunchKernel, cuLaunchKernel
}

static const char *flavour_of_key(struct str key)
{
    static const char *const rocm[] = {"hip_", "roctracer_", "rocprofiler"};
    static const char *const cuda[] = {"cuda_", "cupti_"};
    for (size_t i = 0; i < sizeof rocm / sizeof *rocm; i++)
        if (str_starts_with(key, str_of(rocm[i])))
            return "rocm";
    for (size_t i = 0; i < sizeof cuda / sizeof *cuda; i++)
        if (str_starts_with(key, str_of(cuda[i])))
            return "cuda";
    return NULL;
}

// By the calls that launched its work, else by what the profiler says about itself.
static const char *flavour_of(const struct facts *facts)
{
    const struct trace *trace = facts->trace;
    const char *flavour = NULL;
    for (uint32_t l = 0; !flavour && l < facts->launch_count; l++)
        flavour = flavour_of_call(facts_short_name(trace, trace->name[facts->launches[l].event]));
    for (uint32_t m = 0; !flavour && m < trace->member_count; m++)
        flavour = flavour_of_key(trace_text(trace, trace->members[m].key));
    return flavour;
}

// --- versions -----------------------------------------------------------------------------------

// CUDA counts 12090 for 12.9, HIP 60443483 for 6.4.43483.
static bool read_version(const struct trace *trace, const char *what, struct arena *arena,
                         struct str *version, struct err *err)
{
    char key[32];
    int64_t number;
    for (int hip = 0; hip < 2; hip++) {
        snprintf(key, sizeof key, "%s_%s_version", hip ? "hip" : "cuda", what);
        json_t *value = member_json_find(trace, str_of(key));
        bool known = member_json_i64(value, &number) && number >= 1000 && number < INT32_MAX;
        json_decref(value);
        if (!known)
            continue;
        int n = (int)number;
        char *text = hip ? arena_printf(arena, err, "HIP %d.%d.%d", n / 10000000, n / 100000 % 100,
                                        n % 100000)
                         : arena_printf(arena, err, "CUDA %d.%d", n / 1000, n % 1000 / 10);
        if (!text)
            return false;
        *version = str_of(text);
    }
    return true;
}

static bool take_text(const json_t *object, const char *key, const char *before,
                      struct arena *arena, struct str *to, struct err *err)
{
    const char *value = json_string_value(json_object_get(object, key));
    if (!value || !*value || strcmp(value, "N/A") == 0)
        return true;
    char *text = arena_printf(arena, err, "%s%.80s", before, value);
    if (text)
        *to = (struct str){text, str_valid_utf8(str_of(text))};
    return text != NULL;
}

// The output of torch.utils.collect_env, if whoever made the file included it.
static bool read_torch(const struct trace *trace, struct arena *arena, struct platform *platform,
                       struct err *err)
{
    json_t *metadata = member_json_find(trace, STR("metadata"));
    const json_t *info = json_object_get(json_object_get(metadata, "system"), "torch_env_info");
    bool ok = take_text(info, "torch_version", "PyTorch ", arena, &platform->framework, err) &&
              take_text(info, "nvidia_driver_version", "", arena, &platform->driver, err);
    json_decref(metadata);
    return ok;
}

bool platform_of(const struct facts *facts, struct arena *arena, struct platform *platform,
                 struct err *err)
{
    *platform = (struct platform){.flavour = flavour_of(facts)};
    return read_version(facts->trace, "driver", arena, &platform->driver, err) &&
           read_version(facts->trace, "runtime", arena, &platform->runtime, err) &&
           read_torch(facts->trace, arena, platform, err);
}
