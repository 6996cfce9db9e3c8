"""Arrays in, arrays out: X to codes, one tree grown, a forest kept flat, rows predicted."""
