#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# For Slurm's Epilog, on each node at the end of a job: hands the job's folder of traces to another
# unit and returns at once, so that the node is not held up. Jobs write to $SPOOL/$SLURM_JOB_ID,
# which the Prolog makes for them, with a group "traces" that reads it (PrologFlags=Alloc: before
# the batch script; a Prolog that fails drains the node and holds the job):
#   install -d -m 2750 -o "$SLURM_JOB_USER" -g traces "$SPOOL/$SLURM_JOB_ID" || exit 0
# What a job writes has to be readable by that group: umask 027. The TaskProlog gives the hook the
# run of the job, of which the Epilog knows the number and not the name:
#   echo "export STEPSCOPE_RUN=job-$SLURM_JOB_ID"
# /etc/stepscope-push.env has STEPSCOPE_URL and STEPSCOPE_TOKEN (scope upload), readable by root
# alone. The unit runs as its own user in that group: other processes of the job's user could
# read the token of one that ran as that user. It tries again until the service has all files; if
# they cannot be read, or access is denied, stop it: systemctl stop 'stepscope-push-*'. Sent files
# stay: let systemd-tmpfiles, or the next Prolog, empty $SPOOL.
SPOOL=${STEPSCOPE_SPOOL:-/scratch/traces}
folder=$SPOOL/$SLURM_JOB_ID
[ -d "$folder" ] || exit 0
# Each try of a requeued job has a unit: the first one's may still wait for the service.
systemd-run --quiet --collect --unit="stepscope-push-$SLURM_JOB_ID-${SLURM_JOB_RESTART_COUNT:-0}" \
    --property=EnvironmentFile=/etc/stepscope-push.env --property=DynamicUser=yes \
    --property=SupplementaryGroups=traces --property=StateDirectory=stepscope-push \
    --property=ProtectSystem=strict --property=ProtectHome=yes --property=CapabilityBoundingSet= \
    --property=Restart=on-failure --property=RestartSec=60 --property=StartLimitIntervalSec=0 \
    --property="RestartPreventExitStatus=2 3 4 216" \
    --setenv="STEPSCOPE_RUN=job-$SLURM_JOB_ID" \
    stepscope push "$folder" \
    --state "/var/lib/stepscope-push/$SLURM_JOB_ID.sent" --meta "slurm_job=$SLURM_JOB_ID"
exit 0 # whatever became of it: another status drains the node
