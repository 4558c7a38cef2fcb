//! Owns finding the repository that git means, and where its parts lie.

use std::ffi::OsStr;
use std::path::PathBuf;

use git2::{ErrorCode, Repository, RepositoryOpenFlags as Flags};

use super::RepoError;
use super::environment::{Environment, tidy};
use super::id::Format;
use super::native;
use super::plumbing::Plumbing;

/// Where the parts of a repository lie, all absolute.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Root of the work tree.
    pub(super) top: Option<PathBuf>,
    /// Per-worktree git directory.
    pub(super) git_dir: PathBuf,
    /// Common git directory.
    pub(super) common_dir: PathBuf,
    /// The index to judge.
    pub(super) index: PathBuf,
    /// How objects are named.
    pub(super) format: Format,
}

/// A found repository; without `library` only git itself can read it.
pub(super) struct Found {
    /// Where it is.
    pub(super) place: Place,
    /// libgit2's handle, when it can read this repository.
    pub(super) library: Option<Repository>,
}

/// Finds the repository of an environment.
pub(super) fn find(environment: &Environment) -> Result<Found, RepoError> {
    // libgit2 skips its object hash check with this off; git does not make that check on reading either.
    git2::opts::strict_hash_verification(false);
    if environment.get("GIT_COMMON_DIR").is_some() {
        return by_git(environment);
    }
    match by_library(environment) {
        Ok(library) => Ok(Found { place: place_of(environment, &library), library: Some(library) }),
        Err(error) if error.code() == ErrorCode::NotFound => Err(RepoError::NotFound(environment.cwd.clone())),
        Err(error) => by_git(environment).map_err(|git| refusal(environment, &error, git)),
    }
}

/// Neither could open it: whose words help the reader.
fn refusal(environment: &Environment, library: &git2::Error, git: RepoError) -> RepoError {
    match git {
        RepoError::NoGit => RepoError::Git(format!("{}, and no git was found on PATH to read it with", library.message())),
        _ if library.code() == ErrorCode::Owner => {
            let above = environment.cwd.ancestors().find(|folder| folder.join(".git").exists());
            RepoError::Owner(environment.path("GIT_DIR").unwrap_or_else(|| above.unwrap_or(&environment.cwd).to_owned()))
        }
        other => other,
    }
}

fn by_library(environment: &Environment) -> Result<Repository, git2::Error> {
    let library = if let Some(git_dir) = environment.path("GIT_DIR") {
        Repository::open_ext(git_dir, Flags::NO_SEARCH | Flags::NO_DOTGIT, &[] as &[&OsStr])?
    } else {
        let across = environment.is_true("GIT_DISCOVERY_ACROSS_FILESYSTEM");
        let ceilings = environment.get("GIT_CEILING_DIRECTORIES").map(std::env::split_paths).into_iter().flatten();
        Repository::open_ext(&environment.cwd, if across { Flags::CROSS_FS } else { Flags::empty() }, ceilings)?
    };
    for directory in object_directories(environment) {
        let text = directory.to_str().ok_or_else(|| git2::Error::from_str("an object directory whose path is not UTF-8"))?;
        library.odb()?.add_disk_alternate(text)?;
    }
    Ok(library)
}

/// Where git was told to look for objects beside the repository's own: a receiving server's quarantine.
fn object_directories(environment: &Environment) -> Vec<PathBuf> {
    let alternates = environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES").map(std::env::split_paths).into_iter().flatten();
    let all = environment.path("GIT_OBJECT_DIRECTORY").into_iter().chain(alternates.map(|path| environment.cwd.join(path)));
    all.filter(|directory| directory.is_dir()).collect()
}

fn place_of(environment: &Environment, library: &Repository) -> Place {
    let git_dir = tidy(library.path());
    Place {
        top: top_of(environment, library),
        common_dir: tidy(library.commondir()),
        index: environment.path("GIT_INDEX_FILE").unwrap_or_else(|| git_dir.join("index")),
        git_dir,
        format: Format::Sha1,
    }
}

/// As git does it: an explicit work tree, else (with an explicit git directory) the configured one or the working directory, else what was found.
fn top_of(environment: &Environment, library: &Repository) -> Option<PathBuf> {
    let explicit = environment.path("GIT_WORK_TREE");
    if explicit.is_some() || library.is_bare() {
        return explicit;
    }
    let named = environment.get("GIT_DIR").is_some() && !library.is_worktree();
    let configured = || library.config().and_then(|config| config.get_path("core.worktree")).is_ok();
    if named && !configured() { Some(environment.cwd.clone()) } else { library.workdir().map(tidy) }
}

fn by_git(environment: &Environment) -> Result<Found, RepoError> {
    let git = Plumbing::find(environment)?;
    let asked =
        ["rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--show-object-format", "--absolute-git-dir", "--git-common-dir"];
    let answer = git.run(&asked, None)?.success()?;
    let mut lines = answer.split(|b| *b == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (bare, inside, format) = (line() == b"true", line() == b"true", line());
    let format = match format {
        b"sha1" => Format::Sha1,
        b"sha256" => Format::Sha256,
        other => return Err(RepoError::Git(format!("the object format {} is not known", other.escape_ascii()))),
    };
    let (git_dir, common_dir) = (path_from(environment, line()), path_from(environment, line()));
    if !(line().is_empty() && lines.next().is_none()) {
        return Err(RepoError::Git("a git directory whose path has a line break cannot be judged".into()));
    }
    let top = match environment.path("GIT_WORK_TREE") {
        None if bare || inside => None,
        Some(top) => Some(top),
        None => {
            let answer = git.run(&["rev-parse", "--show-toplevel"], None)?.success()?;
            Some(path_from(environment, answer.strip_suffix(b"\n").unwrap_or(&answer)))
        }
    };
    let index = environment.path("GIT_INDEX_FILE").unwrap_or_else(|| git_dir.join("index"));
    Ok(Found { place: Place { top, git_dir, common_dir, index, format }, library: None })
}

fn path_from(environment: &Environment, bytes: &[u8]) -> PathBuf {
    tidy(&environment.cwd.join(native::text(bytes.to_vec())))
}
