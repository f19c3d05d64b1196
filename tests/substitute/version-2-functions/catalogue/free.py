# Finds a free port.
