//! Owns asking git's configuration.

use std::ffi::OsString;

use git2::{ConfigLevel, ErrorCode, Repository};

use super::{Repo, RepoError};

/// Variables that change which files beyond the repository's own count.
const FILES: &[&str] = &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// A boolean; `None` when unset.
pub(super) fn boolean(repo: &Repo, key: &str) -> Result<Option<bool>, RepoError> {
    let variables = &repo.environment.git;
    if let Some(library) = repo.store.library.as_ref().filter(|_| !variables.iter().any(|variable| may_set(variable, key))) {
        if let Some(own) = own(library, key)? {
            return Ok(Some(own));
        }
        if !variables.iter().any(|(name, _)| FILES.contains(&name.as_str())) {
            return optional(library.config()?.snapshot()?.get_bool(key));
        }
    }
    let answer = repo.store.git()?.run(&["config", "--type=bool", "--get", key], None)?.found()?;
    Ok(answer.map(|text| text.trim_ascii() == b"true"))
}

/// What git calls itself: `2.47.3`.
pub(super) fn version(repo: &Repo) -> Result<String, RepoError> {
    let answer = repo.store.git()?.run(&["version"], None)?.success()?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.trim().trim_start_matches("git version ").to_owned())
}

/// Whether a variable may give git a setting that its files do not hold (`git -c`), which libgit2 does not read: it names the key, or a file.
fn may_set((name, value): &(String, OsString), key: &str) -> bool {
    let value = value.to_string_lossy().to_ascii_lowercase();
    let last = key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase();
    (name == "GIT_CONFIG_PARAMETERS" || name.starts_with("GIT_CONFIG_KEY_")) && (value.contains(&last) || value.contains("include"))
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
