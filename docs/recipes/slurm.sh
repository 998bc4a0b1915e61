#!/bin/sh
#SBATCH --job-name=gather
#SBATCH --array=0-63
#SBATCH --cpus-per-task=4
#SBATCH --requeue
# Makes 64 parts of a gather; SLURM_ARRAY_TASK_ID counts from 0. Submit it in the folder of
# table.npy and ids.npy, which all nodes mount.
exec garner gather table.npy ids.npy -o 'rows-{part}-of-{parts}.npy' \
	--part "$((SLURM_ARRAY_TASK_ID + 1))/$SLURM_ARRAY_TASK_COUNT" --resume
