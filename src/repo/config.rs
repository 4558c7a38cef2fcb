//! Owns asking git's configuration.

use git2::{ConfigLevel, ErrorCode, Repository};

use super::{Repo, RepoError};

/// Variables with which git was given other settings than its files hold, which libgit2 does not read.
const OUTSIDE: &[&str] = &["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];
/// Variables that change which files beyond the repository's own count.
const FILES: &[&str] = &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// A boolean; `None` when unset.
pub(super) fn boolean(repo: &Repo, key: &str) -> Result<Option<bool>, RepoError> {
    let told = |names: &[&str]| names.iter().any(|name| repo.environment.git.iter().any(|(known, _)| known == name));
    if let Some(library) = repo.store.library.as_ref().filter(|_| !told(OUTSIDE)) {
        if let Some(own) = own(library, key)? {
            return Ok(Some(own));
        }
        if !told(FILES) {
            return optional(library.config()?.snapshot()?.get_bool(key));
        }
    }
    let answer = repo.store.git()?.run(&["config", "--type=bool", "--get", key], None)?.found()?;
    Ok(answer.map(|text| text.trim_ascii() == b"true"))
}

/// What the repository itself says, which no file beyond it overrules.
fn own(library: &Repository, key: &str) -> Result<Option<bool>, RepoError> {
    let config = library.config()?;
    for level in [ConfigLevel::Worktree, ConfigLevel::Local] {
        match config.open_level(level) {
            Ok(level) => {
                if let Some(value) = optional(level.get_bool(key))? {
                    return Ok(Some(value));
                }
            }
            Err(error) if error.code() == ErrorCode::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

fn optional(value: Result<bool, git2::Error>) -> Result<Option<bool>, RepoError> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}
