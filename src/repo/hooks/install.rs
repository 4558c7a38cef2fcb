//! Owns putting the hooks in: first a plan of every step, then the steps, each of which leaves a hook that works.

use std::fs;
use std::path::{Path, PathBuf};

use super::file::{self, Links, Mode};
use super::manager::{self, Advice, Manager};
use super::policy::{self, Wrote};
use super::{Folder, HookError, HookName, Place, baseline, here, shim, shown};

/// What a person may ask of `init` beyond the plain thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Keep the hook of pre-commit or prek aside and run it from ours.
    Chain,
    /// Give this repository its own hooks folder where the user's configuration names one for all.
    Here,
    /// Record the tips of now in place of those recorded before.
    Rebaseline,
    /// Only say what would be done.
    Rehearse,
}

/// What `init` is asked to do.
pub struct Request<'a> {
    /// The program that the hooks call: absolute, every link followed.
    pub program: &'a Path,
    /// The text of a first configuration.
    pub policy: &'a str,
    /// What is asked beyond the plain thing.
    pub wishes: &'a [Wish],
}

impl Request<'_> {
    /// Whether something was asked.
    pub fn wants(&self, wish: Wish) -> bool {
        self.wishes.contains(&wish)
    }
}

/// What stood at a hook's place before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Was {
    /// Nothing.
    Absent,
    /// A hook of ours with other bytes: another version, another program, another neighbour.
    Outdated,
    /// Somebody else's hook.
    Earlier,
}

/// What becomes of the hook that stood there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chain {
    /// There was none.
    None,
    /// It is kept here and runs with ours.
    Runs(PathBuf),
    /// It is kept here and does not run, as it did not before: it is not executable.
    Kept(PathBuf),
}

/// What happens to one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Ours, byte for byte: nothing to do.
    Current(Chain),
    /// Ours is written.
    Install(Was, Chain),
    /// Another's hook that already calls Seedgate: this file says so.
    Called(PathBuf),
    /// Another's hook that a person has to change.
    Ask(Advice),
    /// It cannot be decided which hook is the earlier one.
    Blocked(String),
}

/// One hook and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The hook.
    pub hook: HookName,
    /// Its file.
    pub path: PathBuf,
    /// What happens.
    pub act: Act,
}

/// What `init` did, or would do.
#[derive(Debug)]
pub struct Installed {
    /// Where.
    pub place: Place,
    /// The configuration.
    pub policy: Wrote,
    /// The recorded tips.
    pub baseline: Wrote,
    /// How many tips are recorded now.
    pub tips: usize,
    /// Each hook.
    pub hooks: Vec<Planned>,
    /// What a person should know besides.
    pub notes: Vec<String>,
}

impl Installed {
    /// Whether every hook will call Seedgate.
    pub fn is_whole(&self) -> bool {
        self.hooks.iter().all(|planned| !matches!(planned.act, Act::Ask(_) | Act::Blocked(_)))
    }
}

/// Puts configuration, baseline and hooks where they belong.
///
/// # Errors
/// When something cannot be read or written, or git looks for hooks where this repository must not write.
pub fn install(mut place: Place, request: &Request<'_>) -> Result<Installed, HookError> {
    let adopted = here::adopt(&mut place, request)?;
    let policy = policy::find(&place)?;
    let baseline = baseline::find(&place, request.wants(Wish::Rebaseline))?;
    let tips =
        if matches!(baseline, Wrote::New(_)) { place.repo()?.tips()? } else { baseline::read(&place.common_dir)?.unwrap_or_default() };
    let borrowed = adopted.as_ref().map(|adopted| adopted.earlier.as_slice()).unwrap_or_default();
    let hooks = plan(&place, request, borrowed)?;
    let notes = notes(&place, request);
    let installed = Installed { tips: tips.len(), place, policy, baseline, hooks, notes };
    if request.wants(Wish::Rehearse) {
        return Ok(installed);
    }
    if let Wrote::New(path) = &installed.baseline {
        baseline::write(path, tips, if request.wants(Wish::Rebaseline) { Mode::Data } else { Mode::First })?;
    }
    policy::write(&installed.policy, request.policy)?;
    if let Some(adopted) = &adopted {
        adopted.link(&installed.place)?;
    }
    for planned in &installed.hooks {
        apply(planned, request.program)?;
    }
    if let Some(adopted) = &adopted {
        adopted.point(&installed.place)?;
    }
    Ok(installed)
}

fn plan(place: &Place, request: &Request<'_>, borrowed: &[HookName]) -> Result<Vec<Planned>, HookError> {
    let plan_one = |hook| {
        let path = place.hook(hook);
        let act = act(place, request, hook, borrowed.contains(&hook))?;
        Ok(Planned { hook, path, act })
    };
    HookName::ALL.into_iter().map(plan_one).collect()
}

fn act(place: &Place, request: &Request<'_>, hook: HookName, borrowed: bool) -> Result<Act, HookError> {
    let path = place.hook(hook);
    let found = Found::at(&path);
    if let Found::Ours(bytes) = &found {
        let chain = if borrowed { Chain::Runs(shim::aside(&path)) } else { chain(&path, &shim::aside(&path)) };
        let wanted = shim::text(hook, &path, request.program, matches!(chain, Chain::Runs(_)));
        let current = *bytes == wanted && file::is_program(&path) && !path.is_symlink();
        return Ok(if current { Act::Current(chain) } else { Act::Install(Was::Outdated, chain) });
    }
    if let Some(manager) = manager_of(place, request, &found) {
        return Ok(if manager.calls_us(place, hook)? {
            Act::Called(manager.source(place, hook))
        } else {
            Act::Ask(manager.advice(place, hook))
        });
    }
    Ok(match found {
        Found::Nothing if borrowed => Act::Install(Was::Absent, Chain::Runs(shim::aside(&path))),
        Found::Nothing | Found::Ours(_) => Act::Install(Was::Absent, chain(&path, &shim::aside(&path))),
        Found::Folder => Act::Blocked(format!("{} is a folder, which git does not run: remove it", shown(&path))),
        Found::Foreign(bytes) => earlier(&path, bytes.as_deref(), hook),
    })
}

/// Whoever else holds this hook, unless a person asked to run it from ours.
fn manager_of(place: &Place, request: &Request<'_>, found: &Found) -> Option<Manager> {
    let by_bytes = if let Found::Foreign(Some(bytes)) = found { Manager::of_bytes(bytes) } else { None };
    Manager::of_repository(place).or(by_bytes.filter(|manager| !(manager.may_be_chained() && request.wants(Wish::Chain))))
}

/// Somebody's own hook: ours takes its place, and it is kept aside.
fn earlier(path: &Path, bytes: Option<&[u8]>, hook: HookName) -> Act {
    if bytes.is_some_and(|bytes| file::is_program(path) && manager::names_us(bytes, hook)) {
        return Act::Called(path.to_owned());
    }
    let aside = shim::aside(path);
    if file::stands(&aside) && !is_same(path, &aside) {
        let (path, aside) = (shown(path), shown(&aside));
        return Act::Blocked(format!(
            "{path} is not Seedgate's, and {aside} keeps an earlier hook already: put what is wanted of both into one, remove the other"
        ));
    }
    Act::Install(Was::Earlier, chain(path, &aside))
}

/// What becomes of an earlier hook, by what would happen to it without us.
fn chain(path: &Path, aside: &Path) -> Chain {
    let standing = if file::stands(aside) { aside } else { path };
    match (matches!(Found::at(standing), Found::Foreign(_)), file::is_program(standing)) {
        (false, _) => Chain::None,
        (true, true) => Chain::Runs(aside.to_owned()),
        (true, false) => Chain::Kept(aside.to_owned()),
    }
}

fn is_same(one: &Path, two: &Path) -> bool {
    let bytes = |path: &Path| file::read(path, Links::Refuse).ok().flatten();
    bytes(one).is_some_and(|found| Some(found) == bytes(two)) && file::is_program(one) == file::is_program(two)
}

/// What stands at a hook's place.
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A hook that some version of `init` wrote.
    Ours(Vec<u8>),
    /// Anything else that is a file or a link; its bytes, when they can be read.
    Foreign(Option<Vec<u8>>),
    /// A folder.
    Folder,
}

impl Found {
    /// Looks.
    pub(super) fn at(path: &Path) -> Found {
        match path.symlink_metadata() {
            Err(_) => Found::Nothing,
            Ok(found) if found.is_dir() => Found::Folder,
            Ok(_) => match file::read(path, Links::Follow) {
                Ok(Some(bytes)) if shim::is_ours(&bytes) => Found::Ours(bytes),
                Ok(bytes) => Found::Foreign(bytes),
                Err(_) => Found::Foreign(None),
            },
        }
    }
}

fn apply(planned: &Planned, program: &Path) -> Result<(), HookError> {
    let Act::Install(was, chain) = &planned.act else { return Ok(()) };
    if *was == Was::Earlier {
        keep_aside(&planned.path)?;
    }
    let text = shim::text(planned.hook, &planned.path, program, matches!(chain, Chain::Runs(_)));
    file::write(&planned.path, &text, Mode::Program)
}

/// Gives the earlier hook its second name. A hard link keeps it at work under the first until ours takes that name.
fn keep_aside(path: &Path) -> Result<(), HookError> {
    let aside = shim::aside(path);
    if file::stands(&aside) {
        return Ok(());
    }
    fs::hard_link(path, &aside).or_else(|_| fs::rename(path, &aside)).map_err(HookError::io("keep aside", path))?;
    file::flush(&place_of(path))
}

fn place_of(path: &Path) -> PathBuf {
    path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned)
}

fn notes(place: &Place, request: &Request<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let relative = place.hooks_path.as_ref().is_some_and(|(path, _)| path.is_relative());
    if place.is_linked() && !relative {
        notes.push("this is a linked work tree: the hooks and the baseline are those of every work tree of the repository".to_owned());
    }
    if relative && place.folder == Folder::Own {
        notes.push("core.hooksPath is relative: every work tree has its own hooks folder, so run `seedgate init` in each".to_owned());
    }
    if request.program.starts_with(&place.top) {
        let program = shown(request.program);
        notes.push(format!("the hooks call {program}, which lies in this work tree: a change could replace it; install it elsewhere"));
    }
    notes
}
