"""Commands that measure what ChainCover costs, and how large it is."""
