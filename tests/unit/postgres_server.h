// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL server for the tests of one process, in a temporary folder and without a network. It
// ends with the process.
#ifndef TESTS_UNIT_POSTGRES_SERVER_H
#define TESTS_UNIT_POSTGRES_SERVER_H

#include "tests/unit/folder.h"

#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct postgres_server {
    pid_t pid;
    char programs[128]; // the folder with initdb and postgres
    char folder[40];    // of its data and its socket
    int databases;      // made for tests so far
    char serve[600];    // a line that starts it
};

static inline bool postgres_is_installed(struct postgres_server *server)
{
    glob_t found;
    bool is_there = glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &found) == 0;
    if (is_there)
        snprintf(server->programs, sizeof server->programs, "%.*s",
                 (int)(strlen(found.gl_pathv[0]) - strlen("/postgres")), found.gl_pathv[0]);
    globfree(&found);
    return is_there;
}

// PostgreSQL refuses to run as root.
static inline bool postgres_leave_root(void)
{
    const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;
    return getuid() != 0 || (user && setgroups(0, NULL) == 0 && setgid(user->pw_gid) == 0 &&
                             setuid(user->pw_uid) == 0);
}

// A shell's line, with the folder of the programs in PATH.
static inline pid_t postgres_spawn(const struct postgres_server *server, const char *line)
{
    pid_t parent = getpid(), pid = fork();
    char command[800];
    if (pid != 0)
        return pid;
    int log = open("/dev/null", O_RDWR);
    snprintf(command, sizeof command, "PATH=%s:$PATH; %s", server->programs, line);
    bool ok = log >= 0 && dup2(log, 0) >= 0 && dup2(log, 1) >= 0 && dup2(log, 2) >= 0 &&
              postgres_leave_root() && prctl(PR_SET_PDEATHSIG, SIGQUIT) == 0 &&
              getppid() == parent && chdir(server->folder) == 0;
    if (ok)
        execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

static inline void postgres_stop(struct postgres_server *server)
{
    if (server->pid > 0) {
        kill(server->pid, SIGQUIT);
        waitpid(server->pid, NULL, 0);
        folder_remove(server->folder);
    }
    server->pid = 0;
}

// As when its machine crashes: what was not written by then is lost. It starts again.
static inline void postgres_crash(struct postgres_server *server)
{
    kill(server->pid, SIGQUIT);
    waitpid(server->pid, NULL, 0);
    server->pid = postgres_spawn(server, server->serve);
}

// Where a new database for a test will be: its own schema in the server's one database.
static inline void postgres_place(const struct postgres_server *server, const char *schema,
                                  char *place, size_t size)
{
    snprintf(place, size, "postgres://app@/postgres?host=%s&options=-csearch_path%%3D%s",
             server->folder, schema);
}

// settings: "-c NAME=VALUE ...", for this server alone. False without PostgreSQL.
static inline bool postgres_start_with(struct postgres_server *server, const char *settings)
{
    *server = (struct postgres_server){.folder = "/tmp/test_postgres.XXXXXX"};
    int status = -1;
    if (!postgres_is_installed(server) || !mkdtemp(server->folder))
        return false;
    const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;
    if (user && chown(server->folder, user->pw_uid, user->pw_gid) != 0)
        return false;
    // Made once and copied: the first to come makes it for the others.
    static const char init[] =
        "made=/tmp/stepscope_initdb.$(id -u).$(initdb --version | tr -dc 0-9.); "
        "[ -O $made ] || { initdb -D data -U app --auth=trust -E UTF8 --locale=C --no-sync && "
        "cp -a data new && mv -T new $made; rm -rf new; }; "
        "[ -d data ] || cp -a $made data";
    snprintf(server->serve, sizeof server->serve,
             "exec postgres -D data -c listen_addresses= -c fsync=off -c shared_buffers=32MB "
             "-c full_page_writes=off -c synchronous_commit=off -c wal_level=minimal "
             "-c max_wal_senders=0 -c jit=off "
             "-c autovacuum=off -k %s %s",
             server->folder, settings);
    waitpid(postgres_spawn(server, init), &status, 0);
    if (status != 0)
        return false;
    server->pid = postgres_spawn(server, server->serve);
    return true;
}

static inline bool postgres_start(struct postgres_server *server)
{
    return postgres_start_with(server, "");
}

#endif
