echo runs
