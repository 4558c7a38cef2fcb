//! Owns where git looks for the hooks of a repository, and whom that folder belongs to.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::ask::{Git, path_of};
use super::{HookError, HookName};
use crate::repo::{Environment, Repo};

/// Whose a hooks folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// This repository's, and nothing of it is tracked.
    Own,
    /// This repository's, and files of it are in the index: everybody's who works on the project.
    Tracked,
    /// Not this repository's: other repositories may use it too.
    Outside,
    /// Not a folder at all.
    Unusable,
}

/// A repository as its hooks see it.
#[derive(Clone, Debug)]
pub struct Place {
    /// Root of the work tree.
    pub top: PathBuf,
    /// The git directory of this work tree.
    pub git_dir: PathBuf,
    /// The git directory that all work trees share.
    pub common_dir: PathBuf,
    /// Where git looks for hooks.
    pub hooks_dir: PathBuf,
    /// `core.hooksPath` as written, and the scope of the file it is written in.
    pub hooks_path: Option<(PathBuf, String)>,
    /// Whose the hooks folder is.
    pub folder: Folder,
    environment: Environment,
}

impl Place {
    /// Finds where things lie.
    ///
    /// # Errors
    /// When git does not start, finds no repository, or there is no work tree.
    pub fn find(environment: &Environment) -> Result<Self, HookError> {
        let repo = Repo::open(environment)?;
        let mut place = Place {
            top: repo.top().ok_or_else(|| HookError::NoWorkTree(repo.git_dir().to_owned()))?.to_owned(),
            git_dir: repo.git_dir().to_owned(),
            common_dir: repo.common_dir().to_owned(),
            hooks_dir: PathBuf::new(),
            hooks_path: None,
            folder: Folder::Own,
            environment: environment.clone(),
        };
        let git = place.git()?;
        place.hooks_path = hooks_path(&git)?;
        place.hooks_dir = git.path(&["rev-parse", "--git-path", "hooks"])?;
        place.folder = place.whose(&place.hooks_dir)?;
        Ok(place)
    }

    /// The repository itself.
    pub(super) fn repo(&self) -> Result<Repo, HookError> {
        Ok(Repo::open(&self.environment)?)
    }

    /// Git at the root of the work tree, where relative hook folders begin, told where everything is.
    pub(super) fn git(&self) -> Result<Git, HookError> {
        Ok(Git::new(&self.top, &self.environment)?.with("GIT_DIR", &self.git_dir).with("GIT_WORK_TREE", &self.top))
    }

    /// The file git runs for a hook.
    pub fn hook(&self, hook: HookName) -> PathBuf {
        self.hooks_dir.join(hook.name())
    }

    /// The folder git uses when `core.hooksPath` is not set.
    pub fn default_hooks_dir(&self) -> PathBuf {
        self.common_dir.join("hooks")
    }

    /// Where Seedgate keeps what belongs to the repository and is not tracked.
    pub fn records_dir(&self) -> PathBuf {
        self.common_dir.join("seedgate")
    }

    /// Whether `core.hooksPath` is relative, so that every work tree has a hooks folder of its own.
    pub fn has_a_folder_for_each_work_tree(&self) -> bool {
        self.hooks_path.as_ref().is_some_and(|(path, _)| is_relative(path))
    }

    /// Whether this work tree is a linked one.
    pub fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }

    fn whose(&self, dir: &Path) -> Result<Folder, HookError> {
        if dir.metadata().is_ok_and(|found| !found.is_dir()) {
            return Ok(Folder::Unusable);
        }
        let (standing, real) = real(dir)?;
        if real.starts_with(real_or_same(&self.common_dir)) {
            return Ok(Folder::Own);
        }
        let git = if real.starts_with(real_or_same(&self.top)) { Some(self.git()?) } else { self.other_work_tree(&standing) };
        let Some(git) = git else { return Ok(Folder::Outside) };
        let files = git.output(
            &["--literal-pathspecs", "ls-files", "-z", "--"].map(OsStr::new).into_iter().chain([real.as_os_str()]).collect::<Vec<_>>(),
        )?;
        Ok(if files.is_empty() { Folder::Own } else { Folder::Tracked })
    }

    /// Git in a folder of another work tree of this repository.
    fn other_work_tree(&self, standing: &Path) -> Option<Git> {
        let git = Git::new(standing, &Environment::at(standing)).ok()?;
        let theirs = git.path(&["rev-parse", "--git-common-dir"]).ok()?;
        (real_or_same(&theirs) == real_or_same(&self.common_dir)).then_some(git)
    }
}

fn hooks_path(git: &Git) -> Result<Option<(PathBuf, String)>, HookError> {
    let arguments = ["config", "-z", "--show-scope", "--get", "core.hooksPath"].map(OsStr::new);
    let Some(answer) = git.optional(&arguments)? else { return Ok(None) };
    let mut fields = answer.split(|byte| *byte == 0);
    let scope = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
    Ok(fields.next().map(|value| (path_of(value.to_vec()), scope)))
}

/// The deepest folder on the way to `dir` that exists, and `dir` with every link on that way followed.
fn real(dir: &Path) -> Result<(PathBuf, PathBuf), HookError> {
    for standing in dir.ancestors() {
        if let Ok(found) = standing.canonicalize() {
            let rest = dir.strip_prefix(standing).unwrap_or(Path::new(""));
            return Ok((found.clone(), if rest.as_os_str().is_empty() { found } else { found.join(rest) }));
        }
    }
    Err(HookError::Unfit { path: dir.to_owned(), says: "lies nowhere".to_owned() })
}

/// Whether git takes a path of its configuration from the work tree: it puts a folder in place of `~`, `~user` and `%(prefix)`.
fn is_relative(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    path.is_relative() && !bytes.starts_with(b"~") && !bytes.starts_with(b"%(prefix)/")
}

fn real_or_same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::is_relative;
    use std::path::Path;

    #[test]
    fn a_path_that_git_expands_is_not_relative() {
        for (path, relative) in [
            (".githooks", true),
            ("../hooks", true),
            ("/hooks", false),
            ("~/hooks", false),
            ("~me/hooks", false),
            ("%(prefix)/hooks", false),
        ] {
            assert_eq!(is_relative(Path::new(path)), relative, "{path}");
        }
    }
}
