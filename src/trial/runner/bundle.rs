//! Owns a job as one tar: the same bytes for the same job, and unpacked only as plain files, folders and links that stay inside.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tar::{Archive, Builder, EntryType, Header};

use crate::tree::{Mode, RepoPath};
use crate::trial::runner::job::Job;
use crate::trial::system;

/// Largest bundle, in bytes.
pub const CAP: u64 = 1 << 30;
/// Most entries.
const ENTRIES: usize = 400_000;

/// A job's files: the tree's, then its own.
///
/// # Errors
/// When a name does not fit into a tar.
pub fn pack(job: &Job) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    for (path, mode, bytes) in job.all_files() {
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        header.set_mode(if mode == Mode::Executable { 0o755 } else { 0o644 });
        let path = system::name(&path);
        if mode == Mode::Symlink {
            header.set_entry_type(EntryType::Symlink);
            header.set_size(0);
            builder.append_link(&mut header, path, system::name(bytes))?;
        } else {
            header.set_size(bytes.len() as u64);
            builder.append_data(&mut header, path, bytes)?;
        }
    }
    builder.into_inner()
}

/// Unpacks into an empty folder. Links come last, so that nothing is written through one.
///
/// # Errors
/// In one sentence, naming the entry that is not taken: then the folder is to be thrown away.
pub fn unpack(bundle: impl Read, root: &Path) -> Result<(), String> {
    let root = root.canonicalize().map_err(|error| error.to_string())?;
    let (mut archive, mut links, mut left) = (Archive::new(bundle), Vec::new(), CAP);
    for (count, entry) in archive.entries().map_err(|error| error.to_string())?.enumerate() {
        let mut entry = entry.map_err(|error| format!("no tar: {error}"))?;
        let name = entry.path_bytes().into_owned();
        let refused = |why: &str| format!("{}: {why}", RepoPath::new(name.as_slice()));
        if count >= ENTRIES {
            return Err(refused("there are too many entries"));
        }
        let file = place(&root, &name).ok_or_else(|| refused("this name leads out, or is none"))?;
        left = left.checked_sub(entry.size()).ok_or_else(|| refused("the whole is too large"))?;
        match entry.header().entry_type() {
            EntryType::Regular => write(&mut entry, &file).map_err(|error| refused(&error.to_string()))?,
            EntryType::Symlink => {
                let target = entry.link_name_bytes().ok_or_else(|| refused("a link to nothing"))?.into_owned();
                links.push((name, target, file));
            }
            _ => return Err(refused("neither a file nor a link")),
        }
    }
    for (name, target, file) in &links {
        let made = folder_of(file).and_then(|()| system::link(target, file));
        made.map_err(|error| format!("{}: {error}", RepoPath::new(name.as_slice())))?;
    }
    let escaped = links.iter().find(|(_, _, file)| !file.canonicalize().is_ok_and(|end| end.starts_with(&root)));
    escaped.map_or(Ok(()), |(name, ..)| Err(format!("{}: this link leads out, or nowhere", RepoPath::new(name.as_slice()))))
}

fn place(root: &Path, name: &[u8]) -> Option<PathBuf> {
    let parts = || name.split(|b| *b == b'/');
    let odd = parts().any(|part| matches!(part, b"" | b"." | b"..") || part.contains(&0));
    (!odd).then(|| parts().fold(root.to_path_buf(), |path, part| path.join(system::name(part))))
}

fn folder_of(file: &Path) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(file))
}

fn write<R: Read>(entry: &mut tar::Entry<'_, R>, file: &Path) -> io::Result<()> {
    folder_of(file)?;
    let is_executable = entry.header().mode()? & 0o111 != 0;
    let size = entry.size();
    let mut new = system::create(file, is_executable)?;
    if io::copy(entry, &mut new)? == size { Ok(()) } else { Err(io::Error::other("it is cut off")) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use tar::{Builder, EntryType, Header};

    use super::unpack;

    fn bundle(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (name, kind, text) in entries {
            let mut header = Header::new_gnu();
            // The crate itself refuses to write such names.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_mode(0o644);
            header.set_size(if *kind == EntryType::Regular { text.len() as u64 } else { 0 });
            if *kind != EntryType::Regular {
                header.as_mut_bytes()[157..157 + text.len()].copy_from_slice(text.as_bytes());
            }
            header.set_cksum();
            builder.append(&header, if *kind == EntryType::Regular { text.as_bytes() } else { b"" }).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn files_and_links_inside_are_unpacked_and_whatever_leads_out_is_refused_by_name() {
        use EntryType::{Block, Fifo, Link, Regular, Symlink};
        let good = ("src/a.py", Regular, "1");
        for (entry, says) in [
            (("link", Symlink, "src/a.py"), ""),
            (("deep/link", Symlink, "../src"), ""),
            (("../out", Regular, "x"), "leads out"),
            (("a/../../out", Regular, "x"), "leads out"),
            (("/tmp/seedgate-out", Regular, "x"), "leads out"),
            (("a//b", Regular, "x"), "leads out"),
            (("link", Symlink, "/etc/passwd"), "this link leads out"),
            (("link", Symlink, "../../etc"), "this link leads out"),
            (("link", Symlink, "nowhere"), "nowhere"),
            (("hard", Link, "src/a.py"), "neither a file nor a link"),
            (("pipe", Fifo, ""), "neither"),
            (("disk", Block, ""), "neither"),
            (("src/a.py", Regular, "again"), "exists"),
            (("src/a.py/below", Regular, "x"), "src/a.py/below"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let into = folder.path().join("in");
            fs::create_dir(&into).unwrap();
            let found = unpack(&bundle(&[good, entry])[..], &into);
            assert_eq!(found.is_ok(), says.is_empty(), "{entry:?}: {found:?}");
            assert!(found.err().unwrap_or_default().contains(says), "{entry:?}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            assert!(!Path::new("/tmp/seedgate-out").exists());
        }
    }

    #[test]
    fn nothing_is_written_through_a_link_that_came_before() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("in");
        fs::create_dir(&into).unwrap();
        let bytes = bundle(&[("way", EntryType::Symlink, ".."), ("way/out", EntryType::Regular, "x")]);
        assert!(unpack(&bytes[..], &into).is_err());
        assert!(!folder.path().join("out").exists());
        assert!(unpack(&bytes[..700], &into).is_err());
        assert!(unpack(&b"noise that is no tar"[..], &into).is_err());
    }
}
