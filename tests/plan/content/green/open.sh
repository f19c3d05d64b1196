echo green
