//! Owns taking the hooks out: what stood there before comes back under its name, and nothing that is not ours is touched.

use std::fs;
use std::path::{Path, PathBuf};

use super::file;
use super::install::Found;
use super::manager::Manager;
use super::{HookError, HookName, Place, here, shim};

/// What happened at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removed {
    /// Ours is gone.
    Gone,
    /// Ours is gone, and the earlier hook is back.
    Restored,
    /// There is nothing of ours.
    Nothing,
    /// Another's hook stands there; if it says so, an earlier hook is still kept aside.
    Foreign(Option<PathBuf>),
}

/// What `uninstall` did.
#[derive(Debug)]
pub struct Undone {
    /// Where.
    pub place: Place,
    /// Each file looked at.
    pub hooks: Vec<(PathBuf, Removed)>,
    /// Files of other hook managers that still call Seedgate.
    pub callers: Vec<PathBuf>,
    /// Whether a `core.hooksPath` that `init --here` had set was taken back.
    pub abandoned: bool,
}

/// Takes out every hook of ours, wherever git looks or usually looks.
///
/// # Errors
/// When something cannot be read, moved or removed.
pub fn uninstall(place: Place) -> Result<Undone, HookError> {
    let abandoned = here::abandon(&place)?;
    let mut hooks = Vec::new();
    for hook in HookName::ALL {
        let usual = place.default_hooks_dir().join(hook.name());
        let asked = place.hook(hook);
        let moved = ["legacy", "old"].map(|word| asked.with_extension(word));
        if usual != asked && file::stands(&usual) {
            hooks.push((usual.clone(), take_out(&usual)?));
        }
        hooks.push((asked.clone(), take_out(&asked)?));
        for path in moved.into_iter().filter(|path| matches!(Found::at(path), Found::Ours(_))) {
            hooks.push((path.clone(), take_out(&path)?));
        }
    }
    let callers = callers(&place);
    Ok(Undone { place, hooks, callers, abandoned })
}

fn take_out(path: &Path) -> Result<Removed, HookError> {
    let aside = shim::aside(path);
    let kept = file::stands(&aside);
    let done = match (Found::at(path), kept) {
        (Found::Ours(_) | Found::Nothing, true) => {
            fs::rename(&aside, path).map_err(HookError::io("put back", path))?;
            Removed::Restored
        }
        (Found::Ours(_), false) => {
            fs::remove_file(path).map_err(HookError::io("remove", path))?;
            Removed::Gone
        }
        (Found::Nothing, false) => return Ok(Removed::Nothing),
        (Found::Foreign(_) | Found::Folder, kept) => return Ok(Removed::Foreign(kept.then_some(aside))),
    };
    file::flush(path.parent().unwrap_or(Path::new(".")))?;
    Ok(done)
}

/// The files in which other managers still call us: they are the project's, so a person changes them. What cannot be read is not told of.
fn callers(place: &Place) -> Vec<PathBuf> {
    let managers = [Manager::Husky, Manager::Lefthook, Manager::PreCommit, Manager::Project];
    let each = managers.into_iter().flat_map(|manager| HookName::ALL.map(|hook| (manager, hook)));
    let calling = each.filter(|(manager, hook)| manager.calls_us(place, *hook).unwrap_or(false));
    let mut files: Vec<PathBuf> = calling.map(|(manager, hook)| manager.source(place, hook)).collect();
    files.sort();
    files.dedup();
    files
}
