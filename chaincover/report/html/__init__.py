"""The report: what a run, a replay or a judgement left in files, as one HTML page that needs nothing else."""
