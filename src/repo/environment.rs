//! Owns what git told this process, and which of it may reach a child of git.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What git told this process: the working directory and the `GIT_*` variables that name a repository.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Absolute working directory.
    pub cwd: PathBuf,
    /// `GIT_*` variables as found, and the `GITHEAD_*` ones in which `git merge` names what it merges.
    pub git: Vec<(String, OsString)>,
}

/// Variables that bind a process to one repository (`git rev-parse --local-env-vars`): a child that works elsewhere must not see them.
pub const LOCAL_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH",
];

/// Variables that a git child of ours keeps: where the repository is, whose configuration counts, how to reach a remote, who commits.
const KEPT: &[&str] = &[
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_PROXY_COMMAND",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
];

/// Those of them that hold one path, which may be relative to the working directory.
const ONE_PATH: &[&str] = &[
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_EXEC_PATH",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
];

impl Environment {
    /// What this process was told.
    ///
    /// # Errors
    /// When the working directory is gone.
    pub fn of_process() -> std::io::Result<Self> {
        let named = |(name, value): (OsString, OsString)| name.into_string().ok().map(|name| (name, value));
        let told = |name: &str| is_git(OsStr::new(name)) || name.starts_with("GITHEAD_");
        let git = std::env::vars_os().filter_map(named).filter(|(name, _)| told(name)).collect();
        Ok(Environment { cwd: std::env::current_dir()?, git })
    }

    /// A directory, and nothing told by git.
    pub fn at(cwd: impl Into<PathBuf>) -> Self {
        Environment { cwd: cwd.into(), git: Vec::new() }
    }

    /// The value of a variable; empty is unset.
    pub(super) fn get(&self, name: &str) -> Option<&OsStr> {
        self.git.iter().rev().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_os_str())
    }

    /// The value of a variable that holds one path, made absolute.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(|value| tidy(&self.cwd.join(value)))
    }

    /// Whether a variable says yes as git reads it.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !matches!(value.to_str(), Some("0" | "false" | "no" | "off")))
    }

    /// What a git child may know of it, wherever that works.
    pub(super) fn kept(&self) -> impl Iterator<Item = (&str, OsString)> {
        self.git.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| {
            let value = match name.as_str() {
                _ if value.is_empty() => value.clone(),
                name if ONE_PATH.contains(&name) => self.cwd.join(value).into(),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES" => self.every_path(value),
                _ => value.clone(),
            };
            (name.as_str(), value)
        })
    }

    /// A list of paths, each made absolute; a list that cannot be written so stays as it is.
    fn every_path(&self, list: &OsStr) -> OsString {
        std::env::join_paths(std::env::split_paths(list).map(|path| self.cwd.join(path))).unwrap_or_else(|_| list.to_owned())
    }
}

/// Whether a variable is git's.
pub(super) fn is_git(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"GIT_")
}

fn is_kept(name: &str) -> bool {
    KEPT.contains(&name) || name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_")
}

/// A path without `.` parts and trailing slashes; `..` and links stay, because only the file system knows what they mean.
pub(super) fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use super::Environment;
    use std::path::Path;

    fn told(pairs: &[(&str, &str)]) -> Environment {
        let git = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        Environment { cwd: "/work/top".into(), git }
    }

    #[test]
    fn a_relative_index_file_is_taken_from_the_working_directory() {
        assert_eq!(told(&[("GIT_INDEX_FILE", "./.git/index")]).path("GIT_INDEX_FILE").as_deref(), Some(Path::new("/work/top/.git/index")));
        assert_eq!(told(&[("GIT_INDEX_FILE", "/else/index.lock")]).path("GIT_INDEX_FILE").as_deref(), Some(Path::new("/else/index.lock")));
        assert_eq!(told(&[("GIT_INDEX_FILE", "")]).path("GIT_INDEX_FILE"), None);
    }

    #[test]
    fn nothing_that_runs_a_program_or_changes_an_answer_reaches_a_git_child() {
        let all = told(&[
            ("GIT_DIR", "x"),
            ("GIT_EXTERNAL_DIFF", "evil"),
            ("GIT_PAGER", "evil"),
            ("GIT_EDITOR", "evil"),
            ("GIT_ASKPASS", "evil"),
            ("GIT_TRACE", "1"),
            ("GIT_DIFF_OPTS", "-u0"),
            ("GIT_REPLACE_REF_BASE", "refs/evil"),
            ("GIT_GRAFT_FILE", "evil"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "safe.directory"),
        ]);
        let kept: Vec<&str> = all.kept().map(|(name, _)| name).collect();
        assert_eq!(kept, ["GIT_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0"]);
    }
}
