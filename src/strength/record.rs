//! Owns records on the disk: a file is written whole or not at all, read within a bound, and neither through a link.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

/// Why a record was not written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system said no.
    #[error("cannot write {path}: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder of the path is something else, so the record would land elsewhere.
    #[error("{0} is not a folder, so nothing is written through it")]
    NotFolder(PathBuf),
}

/// Why a record was not read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// The system said no.
    #[error("{0}")]
    Io(io::Error),
    /// It is not what is read here.
    #[error("{0}")]
    Unfit(String),
}

/// The bytes of the record at `path`, at most `cap` of them; `None` when there is none. No link is followed.
///
/// # Errors
/// [`Unread`].
pub fn read_known(path: &Path, cap: u64) -> Result<Option<Vec<u8>>, Unread> {
    match read(path, cap) {
        Err(Unread::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// The bytes of the record at `path`, at most `cap` of them. No link is followed.
///
/// # Errors
/// [`Unread`].
pub fn read(path: &Path, cap: u64) -> Result<Vec<u8>, Unread> {
    if !fs::symlink_metadata(path).map_err(Unread::Io)?.is_file() {
        return Err(Unread::Unfit("it is no regular file, so it is not read".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(cap + 1).read_to_end(&mut bytes)).map_err(Unread::Io)?;
    if bytes.len() as u64 > cap {
        return Err(Unread::Unfit(format!("it has more than the {cap} bytes that are read")));
    }
    Ok(bytes)
}

/// Puts `bytes` at `path`: beside it first, flushed, then renamed over it.
///
/// # Errors
/// [`RecordError`]; then nothing is there that was not there before.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    replace_by(path, &|file| file.write_all(bytes))
}

/// Puts what `write` writes at `path`, in the same way, without having it in memory.
///
/// # Errors
/// [`RecordError`]; then nothing is there that was not there before.
pub fn replace_by(path: &Path, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), RecordError> {
    let beside = beside(path, write)?;
    beside.persist(path).map_err(|error| io_error(path, error.error))?;
    flush_folder(path)
}

/// Puts `bytes` at `folder/name` below `top`, making the folders. False when a file is there already: it is left as it is.
///
/// # Errors
/// [`RecordError`], also when one of the folders is a link.
pub fn create(top: &Path, folder: &str, name: &str, bytes: &[u8]) -> Result<bool, RecordError> {
    let mut home = top.to_path_buf();
    for part in folder.split('/') {
        home.push(part);
        match fs::symlink_metadata(&home) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(RecordError::NotFolder(home)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&home).map_err(|error| io_error(&home, error))?,
            Err(error) => return Err(io_error(&home, error)),
        }
    }
    let path = home.join(name);
    if fs::symlink_metadata(&path).is_ok() {
        return Ok(false);
    }
    match beside(&path, &|file| file.write_all(bytes))?.persist_noclobber(&path) {
        Ok(_) => flush_folder(&path).map(|()| true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(io_error(&path, error.error)),
    }
}

fn beside(path: &Path, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Result<tempfile::NamedTempFile, RecordError> {
    let mut builder = tempfile::Builder::new();
    readable(&mut builder);
    let mut file = builder.prefix(".seedgate-").tempfile_in(folder_of(path)).map_err(|error| io_error(path, error))?;
    let mut buffered = BufWriter::new(file.as_file_mut());
    write(&mut buffered).and_then(|()| buffered.flush()).map_err(|error| io_error(path, error))?;
    drop(buffered);
    file.as_file().sync_all().map_err(|error| io_error(path, error))?;
    Ok(file)
}

/// A record is for others to read: the user's umask decides, as for any file.
#[cfg(unix)]
fn readable(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn readable(_: &mut tempfile::Builder<'_, '_>) {}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn flush_folder(path: &Path) -> Result<(), RecordError> {
    File::open(folder_of(path)).and_then(|folder| folder.sync_all()).map_err(|error| io_error(path, error))
}

#[cfg(not(unix))]
fn flush_folder(_: &Path) -> Result<(), RecordError> {
    Ok(())
}

fn io_error(path: &Path, source: io::Error) -> RecordError {
    RecordError::Io { path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{create, replace};

    #[test]
    fn a_record_replaces_the_old_one_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cards.json");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(replace(&folder.path().join("none/cards.json"), b"x").is_err());
    }

    #[test]
    fn a_new_record_makes_its_folders_and_never_overwrites() {
        let top = tempfile::tempdir().unwrap();
        assert!(create(top.path(), "docs/waivers", "w.md", b"one").unwrap());
        assert!(!create(top.path(), "docs/waivers", "w.md", b"two").unwrap());
        assert_eq!(fs::read(top.path().join("docs/waivers/w.md")).unwrap(), b"one");
        assert_eq!(fs::read_dir(top.path().join("docs/waivers")).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_folder_is_not_written_through() {
        let (top, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), top.path().join("docs")).unwrap();
        let error = create(top.path(), "docs/waivers", "w.md", b"one").unwrap_err().to_string();
        assert!(error.contains("is not a folder"), "{error}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
