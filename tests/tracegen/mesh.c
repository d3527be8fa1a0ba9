// SPDX-License-Identifier: Apache-2.0
// Ranks along dimensions: tensor-parallel ranks are neighbors, then data-parallel ones, then
// stages.
#include "tests/tracegen/mesh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int32_t mesh_stage_of(const struct mesh *mesh, int32_t rank)
{
    return rank / (mesh->options->tp * mesh->options->dp);
}

int32_t mesh_node_of(const struct mesh *mesh, int32_t rank)
{
    return rank / mesh->options->node_gpus;
}

bool mesh_is_slow(const struct mesh *mesh, int32_t node, int32_t other)
{
    const int32_t *ends = mesh->options->slow_nodes;
    return (node == ends[0] && (ends[1] < 0 || other == ends[1])) ||
           (other == ends[0] && (ends[1] < 0 || node == ends[1]));
}

static int32_t rank_at(const struct mesh_options *o, int32_t t, int32_t d, int32_t p)
{
    return t + o->tp * (d + o->dp * p);
}

// A dimension that spans all ranks uses the default group, as in libraries.
static void add_group(struct mesh *mesh, enum mesh_dimension dimension, int32_t first,
                      int32_t stride, int32_t size)
{
    const struct mesh_options *o = mesh->options;
    if (size == 1)
        return;
    if (size == mesh->world && dimension != MESH_WORLD && dimension != MESH_PIPELINE) {
        for (int32_t rank = 0; rank < size; rank++)
            mesh->group_of[dimension][rank] = 0;
        return;
    }
    struct mesh_group *group = &mesh->groups[mesh->group_count];
    *group = (struct mesh_group){.dimension = dimension, .name = mesh->group_count, .size = size};
    group->ranks = outfile_memory((size_t)size, sizeof *group->ranks);
    bool touches[2] = {false, o->slow_nodes[1] < 0};
    for (int32_t i = 0; i < size; i++) {
        int32_t rank = first + i * stride;
        group->ranks[i] = rank;
        mesh->group_of[dimension][rank] = mesh->group_count;
        group->spans_nodes |= mesh_node_of(mesh, rank) != mesh_node_of(mesh, first);
        for (int end = 0; end < 2; end++)
            touches[end] |= mesh_node_of(mesh, rank) == o->slow_nodes[end];
    }
    group->slow = dimension != MESH_WORLD && group->spans_nodes && touches[0] && touches[1];
    mesh->group_count++;
}

static void add_groups_of_stage(struct mesh *mesh, int32_t p)
{
    const struct mesh_options *o = mesh->options;
    for (int32_t d = 0; d < o->dp; d++)
        add_group(mesh, MESH_TENSOR, rank_at(o, 0, d, p), 1, o->tp);
    for (int32_t t = 0; t < o->tp; t++)
        add_group(mesh, MESH_DATA, rank_at(o, t, 0, p), o->tp, o->dp);
    for (int32_t t = 0; t < o->tp; t++)
        for (int32_t d = 0; d < o->dp; d += o->ep)
            add_group(mesh, MESH_EXPERT, rank_at(o, t, d, p), o->tp, o->ep);
}

void mesh_open(struct mesh *mesh, const struct mesh_options *o)
{
    *mesh = (struct mesh){.options = o, .world = o->tp * o->pp * o->dp};
    size_t world = (size_t)mesh->world;
    mesh->groups = outfile_memory(4 * world + 1, sizeof *mesh->groups);
    for (int i = 0; i < DIMENSIONS; i++) {
        mesh->group_of[i] = outfile_memory(world, sizeof(int32_t));
        memset(mesh->group_of[i], 0xff, world * sizeof(int32_t));
    }
    if (!o->sends_only)
        add_group(mesh, MESH_WORLD, 0, 1, mesh->world);
    for (int32_t p = 0; p < o->pp; p++)
        add_groups_of_stage(mesh, p);
    for (int32_t i = 0; i < o->tp * o->dp; i++)
        add_group(mesh, MESH_PIPELINE, i, o->tp * o->dp, o->pp);
}

void mesh_close(struct mesh *mesh)
{
    for (int32_t i = 0; i < mesh->group_count; i++)
        free(mesh->groups[i].ranks);
    for (int i = 0; i < DIMENSIONS; i++)
        free(mesh->group_of[i]);
    free(mesh->groups);
}

int mesh_main(int argc, char **argv)
{
    struct mesh_options options;
    struct mesh mesh;
    struct mesh_job job;
    if (!mesh_options_parse(argc, argv, &options))
        return 2;
    if (mkdir(options.out, 0755) != 0 && errno != EEXIST)
        outfile_die("cannot create folder %s: %s", options.out, strerror(errno));
    mesh_open(&mesh, &options);
    mesh_run(&mesh, &job);
    uint64_t *bytes = outfile_memory((size_t)mesh.world, sizeof *bytes);
    for (int32_t rank = 0; rank < mesh.world; rank++)
        if (rank != options.without)
            bytes[rank] = mesh_write(&job, rank);
    mesh_truth(&job, bytes);
    free(bytes);
    mesh_job_free(&job);
    mesh_close(&mesh);
    return 0;
}
