"""What a suite can run: ChainCover's commands and the baselines, one file each behind ``protocol.Tool``."""
