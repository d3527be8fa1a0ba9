#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# For Slurm's Epilog, on each node at the end of a job: hands the job's folder of traces to another
# unit and returns at once, so that the node is not held up. Jobs write to $SPOOL/$SLURM_JOB_ID
# (their own folder, 0700). /etc/stepscope-push.env has STEPSCOPE_URL and STEPSCOPE_TOKEN (scope
# upload), readable by root alone.
SPOOL=${STEPSCOPE_SPOOL:-/scratch/traces}
folder=$SPOOL/$SLURM_JOB_ID
[ -d "$folder" ] || exit 0
exec systemd-run --quiet --collect --unit="stepscope-push-$SLURM_JOB_ID" \
    --property=EnvironmentFile=/etc/stepscope-push.env --property=User="$SLURM_JOB_USER" \
    --property=Restart=on-failure --property=RestartSec=60 --property=StartLimitIntervalSec=0 \
    --property="RestartPreventExitStatus=2 3 4" \
    /usr/local/bin/stepscope push "$folder" --run "${SLURM_JOB_NAME:-job}-$SLURM_JOB_ID" \
    --meta "slurm_job=$SLURM_JOB_ID"
