//! The daemon under faults: the verdict is what it would be without one, nothing hangs, nothing is left behind.

mod answers;
mod disk;
mod house;
mod life;
mod load;
mod requests;
mod same_bytes;
mod shows;
mod starts;
mod warmth;
mod ways;
