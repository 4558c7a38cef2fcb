//! Owns giving one repository its own hooks folder where `core.hooksPath` of the user or the machine names one for every repository.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ask::path_of;
use super::file::{self, Links, Mode};
use super::install::{Found, Request, Wish};
use super::{Folder, HookError, HookName, Place, shim, shown};
use crate::repo::native;

const SCHEMA: &str = "seedgate.hooks/1";

/// What has to be done so that the hooks of the shared folder go on in the repository's own.
pub(super) struct Adopted {
    /// Link in the own folder, file in the shared one.
    links: Vec<(PathBuf, PathBuf)>,
    /// The hooks among them that ours will run.
    pub(super) earlier: Vec<HookName>,
}

/// What `init --here` did, for `uninstall`.
#[derive(Serialize, Deserialize)]
struct Record {
    schema: String,
    /// The links made in the own hooks folder, by the bytes of their names.
    links: Vec<Vec<u8>>,
}

/// Checks that the hooks folder may be written, and plans the own one where it may not.
///
/// # Errors
/// When git looks for hooks where this repository must not write, and nothing else was asked or can be had.
pub(super) fn adopt(place: &mut Place, request: &Request<'_>) -> Result<Option<Adopted>, HookError> {
    match place.folder {
        Folder::Own | Folder::Tracked => Ok(None),
        Folder::Unusable => {
            Err(refusal(place, "is not a folder, so git runs no hook at all, and nothing was installed; unset or change it"))
        }
        Folder::Outside if is_users(place) && request.wants(Wish::Here) => own_folder(place).map(Some),
        Folder::Outside if is_users(place) => Err(refusal(
            place,
            "serves other repositories too, so nothing was installed; `seedgate init --here` gives this one its own folder, linked to that one",
        )),
        Folder::Outside => {
            Err(refusal(place, "lies outside the repository and may serve others too, so nothing was installed; make it point inside"))
        }
    }
}

fn is_users(place: &Place) -> bool {
    place.hooks_path.as_ref().is_some_and(|(_, scope)| scope == "global" || scope == "system")
}

fn refusal(place: &Place, says: &'static str) -> HookError {
    let named = place.hooks_path.as_ref().map(|(path, scope)| format!(" (core.hooksPath is {} in the {scope} configuration)", shown(path)));
    HookError::Folder { folder: place.hooks_dir.clone(), named: named.unwrap_or_default(), says }
}

/// Plans to point git at the repository's own folder, with a link for everything in the shared one.
fn own_folder(place: &mut Place) -> Result<Adopted, HookError> {
    let own = place.default_hooks_dir();
    let shared = std::mem::replace(&mut place.hooks_dir, own);
    place.folder = Folder::Own;
    for entry in entries(&place.hooks_dir)? {
        let asleep = entry.extension() != Some(OsStr::new("sample")) && !matches!(Found::at(&entry), Found::Ours(_));
        if asleep {
            let says = "sleeps while core.hooksPath points elsewhere and would wake: remove it first".to_owned();
            return Err(HookError::Unfit { path: entry, says });
        }
    }
    let mut adopted = Adopted { links: Vec::new(), earlier: Vec::new() };
    for target in entries(&shared)? {
        let link = place.hooks_dir.join(target.file_name().unwrap_or_default());
        match HookName::ALL.into_iter().find(|hook| link == place.hook(*hook)) {
            Some(hook) if file::is_program(&target) => {
                adopted.earlier.push(hook);
                adopted.links.push((shim::aside(&link), target));
            }
            Some(_) => {}
            None => adopted.links.push((link, target)),
        }
    }
    Ok(adopted)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, HookError> {
    let Ok(listed) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut entries =
        listed.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(HookError::io("list", folder))?;
    entries.sort();
    Ok(entries)
}

impl Adopted {
    /// Writes down what is about to be linked, and links it.
    pub(super) fn link(&self, place: &Place) -> Result<(), HookError> {
        let names = self.links.iter().filter_map(|(link, _)| link.file_name()).map(|name| name.as_encoded_bytes().to_vec()).collect();
        let record = Record { schema: SCHEMA.to_owned(), links: names };
        let path = record_path(place);
        let bytes = serde_json::to_vec(&record).map_err(|e| HookError::Unfit { path: path.clone(), says: e.to_string() })?;
        file::write(&path, &bytes, Mode::Data)?;
        fs::create_dir_all(&place.hooks_dir).map_err(HookError::io("create", &place.hooks_dir))?;
        for (link, target) in &self.links {
            if !file::stands(link) {
                native::link(target, link).map_err(HookError::io("link", link))?;
            }
        }
        Ok(())
    }

    /// Points git at the repository's own folder, once every hook stands in it.
    #[expect(clippy::unused_self, reason = "only what was adopted may be pointed at")]
    pub(super) fn point(&self, place: &Place) -> Result<(), HookError> {
        let words = ["config", "--local", "core.hooksPath"].map(OsStr::new);
        place.git()?.output(&[words[0], words[1], words[2], place.hooks_dir.as_os_str()]).map(|_| ())
    }
}

/// Takes back what `init --here` did: the links and the setting. Answers whether there was anything.
pub(super) fn abandon(place: &Place) -> Result<bool, HookError> {
    let path = record_path(place);
    let Some(bytes) = file::read(&path, Links::Refuse)? else { return Ok(false) };
    let bad = |says: String| HookError::Unfit { path: path.clone(), says };
    let record: Record = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
    if record.schema != SCHEMA {
        return Err(bad(format!("has the schema {:?}, and this version reads {SCHEMA}", record.schema)));
    }
    let own = place.default_hooks_dir();
    let set = place.hooks_path.as_ref().is_some_and(|(value, scope)| scope == "local" && *value == own);
    if set {
        place.git()?.output(&["config", "--local", "--unset", "core.hooksPath"].map(OsStr::new))?;
    }
    for name in record.links {
        let link = own.join(path_of(name).file_name().unwrap_or_default());
        if link.is_symlink() {
            fs::remove_file(&link).map_err(HookError::io("remove", &link))?;
        }
    }
    fs::remove_file(&path).map_err(HookError::io("remove", &path))?;
    Ok(true)
}

fn record_path(place: &Place) -> PathBuf {
    place.records_dir().join("hooks.json")
}
