//! Owns printing: the only room that writes to standard output or error.
