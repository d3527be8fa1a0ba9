// SPDX-License-Identifier: Apache-2.0
// Resource limits, no new privileges, no files (Landlock) and an allowlist of system calls
// (seccomp).
#include "server/jobs/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef STEPSCOPE_SANITIZE
enum { CAN_SHUT_IN = 0 }; // sanitizers take terabytes of address space, and open files to report
#else
enum { CAN_SHUT_IN = 1 };
#endif

// --- limits -------------------------------------------------------------------------------------

// If the soft limit has a signal, it tells why the process died; the hard limit sends SIGKILL.
static bool limit_twice(int resource, uint64_t value, uint64_t last, struct err *err)
{
    struct rlimit now, wanted;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
        return err_set_errno(err, "looking at limit %d", resource);
    wanted.rlim_cur = now.rlim_max < value ? now.rlim_max : (rlim_t)value;
    wanted.rlim_max = now.rlim_max < last ? now.rlim_max : (rlim_t)last;
    return setrlimit((__rlimit_resource_t)resource, &wanted) == 0 ||
           err_set_errno(err, "setting limit %d", resource);
}

static bool limit(int resource, uint64_t value, struct err *err)
{
    return limit_twice(resource, value, value, err);
}

static bool set_limits(const struct sandbox_limits *limits, struct err *err)
{
    signal(SIGXFSZ, SIG_IGN); // a file that is too long is reported as a write error
    if (CAN_SHUT_IN && limits->address_bytes && !limit(RLIMIT_AS, limits->address_bytes, err))
        return false;
    return limit_twice(RLIMIT_CPU, limits->cpu_seconds, limits->cpu_seconds + 5, err) &&
           limit(RLIMIT_FSIZE, limits->file_bytes, err) &&
           limit(RLIMIT_NOFILE, limits->descriptors, err) && limit(RLIMIT_CORE, 0, err);
}

// --- no files -----------------------------------------------------------------------------------

// The newest kernel's layout; older ones get only the members they know.
struct ruleset {
    uint64_t files, network, scope;
};
enum { FILES_OF_FIRST = 13, NETWORK_RIGHTS = 2, SCOPES = 2 };

// How many file rights each version of Landlock knows, starting at version 1.
static const unsigned file_rights[] = {FILES_OF_FIRST, FILES_OF_FIRST + 1, FILES_OF_FIRST + 2,
                                       FILES_OF_FIRST + 2, FILES_OF_FIRST + 3};
enum { LAST_FILE_RIGHTS = sizeof file_rights / sizeof *file_rights - 1 };

static uint64_t first_bits(unsigned count)
{
    return ((uint64_t)1 << count) - 1;
}

// Handles all rights and allows none: no file can be opened, no port connected. False if the kernel
// lacks it.
static bool forbid_files(void)
{
    enum { ASK_VERSION = 1, WITH_NETWORK = 4, WITH_SCOPE = 6 };
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, ASK_VERSION);
    if (version < 1)
        return false;
    long known = version - 1 < LAST_FILE_RIGHTS ? version - 1 : LAST_FILE_RIGHTS;
    struct ruleset rules = {.files = first_bits(file_rights[known]),
                            .network = first_bits(NETWORK_RIGHTS),
                            .scope = first_bits(SCOPES)};
    size_t size = version >= WITH_SCOPE     ? sizeof rules
                  : version >= WITH_NETWORK ? offsetof(struct ruleset, scope)
                                            : offsetof(struct ruleset, network);
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    bool ok = fd >= 0 && syscall(SYS_landlock_restrict_self, fd, 0) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

// --- system calls -------------------------------------------------------------------------------

// Allowed with any arguments: calls for computing and for using open descriptors.
static const int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(write),
    SCMP_SYS(pwrite64),
    SCMP_SYS(writev),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(close),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo),
    SCMP_SYS(restart_syscall),
};

// Calls that no computing code ever makes: a process that tries one is no longer running our
// program.
static const int hostile[] = {
    // other programs and processes
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(kill),
    SCMP_SYS(tkill),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(pidfd_getfd),
    // the network
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    // file names
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(truncate),
    SCMP_SYS(chmod),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),
    SCMP_SYS(chown),
    SCMP_SYS(fchown),
    SCMP_SYS(fchownat),
    SCMP_SYS(open_by_handle_at),
    // the system
    SCMP_SYS(setrlimit),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(setuid),
    SCMP_SYS(setresuid),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(kexec_load),
};

// Calls that would reach further with other arguments; those end the process.
struct narrow {
    int call;
    struct scmp_arg_cmp harmless, hostile;
};

// The library's own macros leave members uninitialized.
static struct scmp_arg_cmp when(unsigned argument, enum scmp_compare holds, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){.arg = argument, .op = holds, .datum_a = value, .datum_b = 0};
}

// Whether the masked bits equal value.
static struct scmp_arg_cmp when_bits(unsigned argument, scmp_datum_t mask, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){
        .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

static bool allow_narrow(scmp_filter_ctx filter)
{
    const scmp_datum_t pid = (scmp_datum_t)getpid();
    const struct narrow calls[] = {
        {SCMP_SYS(mmap), when_bits(2, PROT_EXEC, 0), when_bits(2, PROT_EXEC, PROT_EXEC)},
        {SCMP_SYS(mprotect), when_bits(2, PROT_EXEC, 0), when_bits(2, PROT_EXEC, PROT_EXEC)},
        {SCMP_SYS(clone), when_bits(0, CLONE_THREAD, CLONE_THREAD), when_bits(0, CLONE_THREAD, 0)},
        {SCMP_SYS(tgkill), when(0, SCMP_CMP_EQ, pid), when(0, SCMP_CMP_NE, pid)},
        // read-only
        {SCMP_SYS(prlimit64), when(2, SCMP_CMP_EQ, 0), when(2, SCMP_CMP_NE, 0)},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i].call, 1, calls[i].harmless) != 0 ||
            seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, calls[i].call, 1, calls[i].hostile) !=
                0)
            return false;
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
                            when(3, SCMP_CMP_EQ, AT_EMPTY_PATH)) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                            when(1, SCMP_CMP_EQ, F_GETFL)) == 0;
}

// Calls that libraries try and can do without: the C library's allocator opens a file in /proc when
// it first returns memory. clone3, whose arguments cannot be inspected, falls back to clone, as do
// calls that are still unknown.
static bool refuse_some(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(open), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 0) == 0;
}

static bool add_all(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (seccomp_rule_add(filter, action, calls[i], 0) != 0)
            return false;
    return true;
}

// A C library or a machine newer than this list tries calls that are not on it, and falls back
// without them: killing the process would make every file fail.
static bool write_rules(scmp_filter_ctx filter)
{
    return seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
           add_all(filter, SCMP_ACT_ALLOW, allowed, sizeof allowed / sizeof *allowed) &&
           add_all(filter, SCMP_ACT_KILL_PROCESS, hostile, sizeof hostile / sizeof *hostile) &&
           allow_narrow(filter) && refuse_some(filter);
}

// *stands false if the kernel lacks it.
static bool forbid_calls(bool *stands, struct err *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    bool ok = filter && write_rules(filter);
    *stands = ok && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return ok || err_set(err, ERR_INTERNAL, "cannot write the list of system calls");
}

// --- all of it ----------------------------------------------------------------------------------

bool sandbox_enter(const struct sandbox_limits *limits, unsigned *walls, struct err *err)
{
    *walls = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return err_set_errno(err, "giving up privileges");
    // Landlock needs one more descriptor for a moment.
    if (CAN_SHUT_IN && forbid_files())
        *walls |= SANDBOX_LANDLOCK;
    if (!set_limits(limits, err))
        return false;
    *walls |= SANDBOX_LIMITS;
    bool stands = false;
    if (CAN_SHUT_IN && !forbid_calls(&stands, err))
        return false;
    *walls |= stands ? SANDBOX_SECCOMP : 0;
    return true;
}
