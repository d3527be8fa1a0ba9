#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# For Slurm's Epilog, on each node at the end of a job: hands the job's folder of traces to another
# unit and returns at once, so that the node is not held up. Jobs write to $SPOOL/$SLURM_JOB_ID,
# which the Prolog makes for them, with a group "traces" that reads it:
#   install -d -m 2750 -o "$SLURM_JOB_USER" -g traces "$SPOOL/$SLURM_JOB_ID"
# /etc/stepscope-push.env has STEPSCOPE_URL and STEPSCOPE_TOKEN (scope upload), readable by root
# alone. The unit runs as its own user in that group: other processes of the job's user could
# read the token of one that ran as that user.
SPOOL=${STEPSCOPE_SPOOL:-/scratch/traces}
folder=$SPOOL/$SLURM_JOB_ID
[ -d "$folder" ] || exit 0
# The name is the user's: in an argument, systemd would replace ${...} by what the environment has.
exec systemd-run --quiet --collect --unit="stepscope-push-$SLURM_JOB_ID" \
    --property=EnvironmentFile=/etc/stepscope-push.env --property=DynamicUser=yes \
    --property=SupplementaryGroups=traces --property=StateDirectory=stepscope-push \
    --property=ProtectSystem=strict --property=ProtectHome=yes --property=CapabilityBoundingSet= \
    --property=Restart=on-failure --property=RestartSec=60 --property=StartLimitIntervalSec=0 \
    --property="RestartPreventExitStatus=2 3 4" \
    --setenv="STEPSCOPE_RUN=${SLURM_JOB_NAME:-job}-$SLURM_JOB_ID" \
    /usr/local/bin/stepscope push "$folder" \
    --state "/var/lib/stepscope-push/$SLURM_JOB_ID.sent" --meta "slurm_job=$SLURM_JOB_ID"
