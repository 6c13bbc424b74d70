"""Who is drawn and what the sample says: strata, hash draw, policy log, allocation, rates with intervals."""
