"""Commands that check ChainCover against an opinion that is independent of it."""
