//! Owns whether the hooks are live: what git would run for each, and if that is not Seedgate, why.

use std::fmt;
use std::path::PathBuf;

use super::file;
use super::install::Found;
use super::manager::{self, Manager};
use super::{Folder, HookError, HookName, Place, shim, shown};

/// What git would run for one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookState {
    /// The hook.
    pub hook: HookName,
    /// The file git looks for.
    pub path: PathBuf,
    /// Whether Seedgate judges there.
    pub standing: Standing,
    /// The program that our hook calls.
    pub program: Option<PathBuf>,
    /// The earlier hook that runs with ours.
    pub earlier: Option<PathBuf>,
}

impl HookState {
    /// Whether Seedgate judges there, as far as files can show.
    pub fn is_live(&self) -> bool {
        !matches!(self.standing, Standing::Dead(_))
    }
}

/// Whether Seedgate judges at a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Our hook, byte for byte, and its program is there.
    Live,
    /// Another's hook is there, and this file of its calls Seedgate.
    Called(PathBuf),
    /// It does not.
    Dead(Dead),
}

/// Why Seedgate does not judge at a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dead {
    /// There is no such file.
    Missing,
    /// There is no such file, and ours stands where git does not look.
    Elsewhere(PathBuf),
    /// It is ours, but git ignores what is not executable.
    NotExecutable,
    /// It is ours, but its bytes are not what any `init` of this version writes.
    Differs,
    /// It is another's and does not call Seedgate.
    Foreign,
    /// It is ours and refuses everything: its program is gone or not executable.
    NoProgram(PathBuf),
    /// It is ours and refuses everything: the earlier hook is gone or not executable.
    NoEarlier(PathBuf),
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Standing::Live => f.write_str("live"),
            Standing::Called(file) => write!(f, "called from {}", shown(file)),
            Standing::Dead(why) => write!(f, "not live: {why}"),
        }
    }
}

impl fmt::Display for Dead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dead::Missing => f.write_str("no such file"),
            Dead::Elsewhere(ours) => {
                write!(f, "no such file; Seedgate's hook is {}, where git does not look (core.hooksPath)", shown(ours))
            }
            Dead::NotExecutable => f.write_str("not executable, so git ignores it"),
            Dead::Differs => f.write_str("changed since init wrote it, or written by another version"),
            Dead::Foreign => f.write_str("another's hook, which does not call Seedgate"),
            Dead::NoProgram(program) => write!(f, "it refuses everything: there is no program at {}", shown(program)),
            Dead::NoEarlier(earlier) => write!(f, "it refuses everything: the earlier hook {} is gone or not executable", shown(earlier)),
        }
    }
}

/// Looks at each hook as git would.
///
/// # Errors
/// When a file that decides it cannot be read.
pub fn state(place: &Place) -> Result<Vec<HookState>, HookError> {
    HookName::ALL.into_iter().map(|hook| state_of(place, hook)).collect()
}

fn state_of(place: &Place, hook: HookName) -> Result<HookState, HookError> {
    let path = place.hook(hook);
    let mut state = HookState { hook, standing: Standing::Live, program: None, earlier: None, path };
    state.standing = match Found::at(&state.path) {
        Found::Nothing | Found::Folder => Standing::Dead(absent(place, hook)),
        Found::Ours(bytes) => {
            state.program = shim::program(&bytes);
            state.earlier = shim::names_earlier(&bytes).then(|| shim::aside(&state.path));
            ours(&state, &bytes)
        }
        Found::Foreign(bytes) => foreign(place, &state, bytes.as_deref())?,
    };
    Ok(state)
}

fn absent(place: &Place, hook: HookName) -> Dead {
    let usual = place.default_hooks_dir().join(hook.name());
    let left = usual != place.hook(hook) && matches!(Found::at(&usual), Found::Ours(_));
    if left { Dead::Elsewhere(usual) } else { Dead::Missing }
}

fn ours(state: &HookState, bytes: &[u8]) -> Standing {
    let Some(program) = &state.program else { return Standing::Dead(Dead::Differs) };
    if !file::is_program(&state.path) {
        return Standing::Dead(Dead::NotExecutable);
    }
    // The path it was written for may have moved with the repository, so that line is taken from the hook itself.
    let written_for = shim::written_for(bytes).unwrap_or_else(|| state.path.clone());
    if bytes != shim::text(state.hook, &written_for, program, state.earlier.is_some()) {
        return Standing::Dead(Dead::Differs);
    }
    if !file::is_program(program) {
        return Standing::Dead(Dead::NoProgram(program.clone()));
    }
    match &state.earlier {
        Some(earlier) if !file::is_program(earlier) => Standing::Dead(Dead::NoEarlier(earlier.clone())),
        _ => Standing::Live,
    }
}

fn foreign(place: &Place, state: &HookState, bytes: Option<&[u8]>) -> Result<Standing, HookError> {
    if !file::is_program(&state.path) {
        return Ok(Standing::Dead(Dead::NotExecutable));
    }
    if bytes.is_some_and(|bytes| manager::names_us(bytes, state.hook)) {
        return Ok(Standing::Called(state.path.clone()));
    }
    match bytes.and_then(Manager::of_bytes).or_else(|| husky(place)) {
        Some(manager) if manager.calls_us(place, state.hook)? => Ok(Standing::Called(manager.source(place, state.hook))),
        _ => Ok(Standing::Dead(Dead::Foreign)),
    }
}

/// husky's own files name nobody, but lie in its folder.
fn husky(place: &Place) -> Option<Manager> {
    let held = place.folder == Folder::Own && place.hooks_dir.starts_with(place.top.join(".husky"));
    held.then_some(Manager::Husky)
}
