//! Owns the daemon: a process a user that keeps facts warm and tells them by blob id. It gives no verdict, and none needs it.

pub mod client;
mod history;
mod life;
mod log;
mod merges;
pub mod place;
pub mod serve;
mod shared;
mod staged;
mod store;
mod system;
mod talk;
pub mod vigil;
mod warm;
mod watch;
pub mod wire;

/// Why the daemon could not work.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Another one has the lock.
    #[error("a daemon of this user and engine is already running")]
    Running,
    /// No safe place.
    #[error(transparent)]
    Place(#[from] place::PlaceError),
    /// The lock file.
    #[error("the lock file {0}: {1}")]
    Lock(String, std::io::Error),
    /// What is at the socket's path is no socket; it is left alone.
    #[error("{0} is in the way and is no socket; remove it to have a daemon")]
    InTheWay(String),
    /// The socket.
    #[error("the socket {0}: {1}")]
    Socket(String, std::io::Error),
    /// Threads, signals, pipes.
    #[error("{0}")]
    System(std::io::Error),
    /// The daemon said something else than was asked.
    #[error("the daemon {0}")]
    Talk(String),
}
