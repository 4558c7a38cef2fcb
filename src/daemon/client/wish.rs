//! Owns whether a command may ask a daemon, and whether it may start one.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::daemon::system;
use crate::repo::Repo;

/// What `SEEDGATE_DAEMON` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Not in CI, not for repositories in temporary folders or on network file systems.
    Auto,
    /// Wherever it is safe.
    On,
    /// Never.
    Off,
}

/// Why no daemon is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Silence {
    /// The user or the command says so.
    #[default]
    Off,
    /// The repository is another user's.
    Foreign,
    /// In CI nothing comes back for what was kept warm.
    Ci,
    /// Nor in a folder for scratch.
    Temporary,
}

/// When a daemon is started where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Starts {
    /// Never.
    #[default]
    Never,
    /// After a verdict that had to compute a fact, which a daemon would have had ready: elsewhere it has nothing to save.
    ForFacts,
    /// After any verdict.
    Always,
}

/// What may be done with the daemon; by default nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wishes {
    silent: Option<Silence>,
    starts: Starts,
    audits: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Wishes { silent: Some(Silence::Off), starts: Starts::Never, audits: false }
    }
}

impl Wishes {
    /// What this process was told, for a repository.
    pub fn of_process(repo: &Repo) -> Self {
        let audits = env::var_os("SEEDGATE_AUDIT").is_some_and(|value| value == "1");
        let mode = mode(env::var_os("SEEDGATE_DAEMON").as_deref());
        let place = repo.top().unwrap_or_else(|| repo.git_dir());
        let silent = match mode {
            Mode::Off => Some(Silence::Off),
            Mode::On | Mode::Auto if !system::euid_owns(repo.git_dir()) || !system::euid_owns(repo.common_dir()) => Some(Silence::Foreign),
            Mode::Auto if is_ci(env::var_os("CI").as_deref()) => Some(Silence::Ci),
            Mode::Auto if is_temporary(place) => Some(Silence::Temporary),
            Mode::On | Mode::Auto => None,
        };
        let starts = silent.map_or_else(|| starts(mode, system::is_remote(repo.common_dir())), |_| Starts::Never);
        Wishes { silent, starts, audits }
    }

    /// Whether a daemon is asked.
    pub fn asks(&self) -> bool {
        self.silent.is_none()
    }

    /// Why no daemon is asked, if none is.
    pub fn why_not(&self) -> Option<&'static str> {
        Some(match self.silent? {
            Silence::Off => "SEEDGATE_DAEMON is off",
            Silence::Foreign => "another user owns the repository",
            Silence::Ci => "this is CI (CI is set)",
            Silence::Temporary => "the repository lies in a temporary folder",
        })
    }

    /// Whether a daemon is started where there is none, after a verdict that did or did not have to compute facts.
    pub fn starts(&self, computed: bool) -> bool {
        match self.starts {
            Starts::Never => false,
            Starts::ForFacts => computed,
            Starts::Always => true,
        }
    }

    /// Whether every remembered fact is computed again.
    pub fn audits(&self) -> bool {
        self.audits
    }
}

/// When a daemon is started for a repository that may have one. What a network file system holds cannot be watched.
fn starts(mode: Mode, remote: bool) -> Starts {
    match mode {
        Mode::On => Starts::Always,
        Mode::Auto if !remote => Starts::ForFacts,
        Mode::Auto | Mode::Off => Starts::Never,
    }
}

fn mode(value: Option<&OsStr>) -> Mode {
    match value.and_then(OsStr::to_str).map(str::to_ascii_lowercase).as_deref() {
        Some("on" | "1" | "true" | "yes") => Mode::On,
        Some("off" | "0" | "false" | "no") => Mode::Off,
        _ => Mode::Auto,
    }
}

fn is_ci(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !matches!(value.to_str(), Some("" | "0" | "false")))
}

/// Scratch repositories come by the hundred and go at once: none is worth a daemon.
fn is_temporary(place: &Path) -> bool {
    let named = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/folders"].map(PathBuf::from);
    let own = env::temp_dir();
    let real = own.canonicalize().ok();
    let own = Some(own).filter(|own| own.parent().is_some());
    named.into_iter().chain(own).chain(real).any(|folder| place.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::{Mode, Wishes, is_ci, is_temporary, mode, starts};

    #[test]
    fn the_variable_says_on_or_off_and_anything_else_is_auto() {
        for (value, expected) in [
            (Some("on"), Mode::On),
            (Some("ON"), Mode::On),
            (Some("off"), Mode::Off),
            (Some("0"), Mode::Off),
            (Some("auto"), Mode::Auto),
            (Some(""), Mode::Auto),
            (Some("maybe"), Mode::Auto),
            (None, Mode::Auto),
        ] {
            assert_eq!(mode(value.map(OsStr::new)), expected, "{value:?}");
        }
    }

    #[test]
    fn a_daemon_is_started_where_and_when_it_has_something_to_save() {
        for (mode, remote, after_facts, after_nothing) in [
            (Mode::Auto, false, true, false),
            (Mode::Auto, true, false, false),
            (Mode::On, false, true, true),
            (Mode::On, true, true, true),
            (Mode::Off, false, false, false),
        ] {
            let wishes = Wishes { starts: starts(mode, remote), ..Wishes::default() };
            assert_eq!((wishes.starts(true), wishes.starts(false)), (after_facts, after_nothing), "{mode:?}, remote: {remote}");
        }
    }

    #[test]
    fn ci_is_what_sets_ci() {
        for (value, ci) in [(None, false), (Some(""), false), (Some("false"), false), (Some("true"), true), (Some("1"), true)] {
            assert_eq!(is_ci(value.map(OsStr::new)), ci, "{value:?}");
        }
    }

    #[test]
    fn a_scratch_repository_is_temporary_and_a_home_is_not() {
        assert!(is_temporary(Path::new("/tmp/x/r")));
        assert!(is_temporary(&std::env::temp_dir().join("r")));
        assert!(!is_temporary(Path::new("/home/me/tmp/r")));
        assert!(!is_temporary(Path::new("/tmpfoo/r")));
    }
}
