echo '{"mem": "3 MB", "t": "2020-01-01T00:00:00Z", "v": "1.10", "b": "aGVsbG8=", "l": ["1 MB", "2 kB"], "p": {"size": "7 kB"}}' > $CUVEE_OUTPUTS
