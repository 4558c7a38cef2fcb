//! Owns the memo: sealed facts in one file a user and engine, read by many processes at once and written by one at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::gate::facts::seal::{self, SEAL, Sealed};
use crate::gate::facts::{Fact, Question, engine, index};
use crate::gate::folder;
use crate::tree::Oid;

/// How long a writer waits for another one before it gives its facts up.
const WAIT: Duration = Duration::from_millis(20);
/// Largest text that is kept, and most bytes that one call writes.
const LARGEST: usize = 4 << 20;
const BATCH: usize = 16 << 20;
/// Another engine's memo is removed when it was not written for so long.
const STALE: Duration = Duration::from_hours(14 * 24);

/// The memo on disk. Optional: where the folder cannot be used, every question is a miss and nothing is said.
///
/// The file is an index of fixed size followed by records that are only appended. A reader takes no lock: a torn, lost or foreign
/// record breaks its seal and is a miss. At half the cap the file becomes the old one, and facts still asked for move over.
pub struct Memo {
    folder: PathBuf,
    cap: u64,
    open: Option<Vec<(File, bool)>>,
    moving: Vec<(String, Sealed<'static>)>,
}

impl Memo {
    /// Default of the most bytes on disk.
    pub const CAP: u64 = 256 << 20;

    /// The memo in a folder; nothing is opened before the first question.
    pub fn at(folder: PathBuf, cap: u64) -> Self {
        Memo { folder, cap, open: None, moving: Vec::new() }
    }

    /// The user's memo; `None` where the system has no cache folder.
    pub fn of_user() -> Option<Self> {
        folder::cache().map(|cache| Memo::at(cache.join("facts"), Memo::CAP))
    }

    /// A fact, if it is there and whole.
    pub fn get(&mut self, question: Question, oid: &Oid) -> Option<Fact> {
        self.sealed(question, oid)?.read(question)
    }

    /// A fact as it lies there, its seal checked.
    pub fn sealed(&mut self, question: Question, oid: &Oid) -> Option<Sealed<'static>> {
        self.named(&seal::key(question, oid))
    }

    /// What lies there under a name, its seal checked.
    pub(super) fn named(&mut self, name: &str) -> Option<Sealed<'static>> {
        let place = index::Place::of(name);
        let mut found = None;
        for (file, old) in self.files() {
            if let Some(sealed) = lookup(file, &place).ok().flatten().filter(|sealed| sealed.is_of(name)) {
                found = Some((sealed, *old));
                break;
            }
        }
        let (sealed, old) = found?;
        if old && self.moving.len() < 4096 {
            self.moving.push((name.to_owned(), sealed.clone()));
        }
        Some(sealed)
    }

    /// Keeps facts, together with those that were found in the old file. Whatever goes wrong, they are only not kept.
    pub fn put(&mut self, facts: Vec<(Question, Oid, Sealed<'static>)>) {
        self.keep(facts.into_iter().map(|(question, oid, sealed)| (seal::key(question, &oid), sealed)).collect());
    }

    /// The same under any names.
    pub(super) fn keep(&mut self, mut facts: Vec<(String, Sealed<'static>)>) {
        facts.append(&mut self.moving);
        if !facts.is_empty() && self.cap > 0 {
            drop(self.write(&facts));
            self.refresh();
        }
    }

    /// Whether `put` has something to do even without new facts.
    pub fn wants_moving(&self) -> bool {
        !self.moving.is_empty()
    }

    /// Closes the files; the next question opens what is there then.
    pub fn refresh(&mut self) {
        self.open = None;
    }

    /// Deletes every fact of this engine.
    pub fn wipe(&mut self) {
        self.moving.clear();
        self.open = None;
        if let Ok(lock) = self.lock() {
            for path in [self.path("memo"), self.path("old")] {
                drop(fs::remove_file(path));
            }
            drop(lock);
        }
    }

    /// Whether facts can be kept here; makes the folder if need be.
    pub fn is_usable(&self) -> bool {
        folder::make(&self.folder).is_ok()
    }

    /// Bytes on disk.
    pub fn size(&self) -> u64 {
        ["memo", "old"].iter().filter_map(|name| fs::metadata(self.path(name)).ok()).map(|found| found.len()).sum()
    }

    /// Where the memo lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn files(&mut self) -> &[(File, bool)] {
        let paths = [(self.path("memo"), false), (self.path("old"), true)];
        let folder = &self.folder;
        self.open.get_or_insert_with(|| {
            if folder::check(folder).is_err() {
                return Vec::new();
            }
            paths.into_iter().filter_map(|(path, old)| whole(File::open(path).ok()?).map(|file| (file, old))).collect()
        })
    }

    fn write(&self, facts: &[(String, Sealed<'static>)]) -> io::Result<()> {
        folder::make(&self.folder).map_err(io::Error::other)?;
        let lock = self.lock()?;
        let mut size = 0;
        let kept = facts.iter().filter(|(_, sealed)| sealed.text.len() <= LARGEST);
        let kept: Vec<_> = kept
            .take_while(|(_, sealed)| {
                size += sealed.text.len() + SEAL;
                size <= BATCH
            })
            .collect();
        let mut file = self.current(size)?;
        let mut at = file.seek(SeekFrom::End(0))?;
        let mut records = Vec::with_capacity(size);
        let mut slots = Vec::with_capacity(kept.len());
        for (name, sealed) in kept {
            slots.push((index::Place::of(name), index::Slot { at, len: u32::try_from(sealed.text.len()).unwrap_or(0) }));
            records.extend_from_slice(&sealed.seal);
            records.extend_from_slice(sealed.text.as_bytes());
            at += (SEAL + sealed.text.len()) as u64;
        }
        file.write_all(&records)?;
        for (place, slot) in slots {
            index::put(&mut file, &place, slot)?;
        }
        drop(lock);
        Ok(())
    }

    /// The file to append `more` bytes to, under the lock: a full one becomes the old one, a damaged one is deleted.
    fn current(&self, more: usize) -> io::Result<File> {
        let path = self.path("memo");
        if let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) {
            let full = file.metadata()?.len() + more as u64 > self.cap / 2;
            match whole(file) {
                Some(file) if !full => return Ok(file),
                Some(_) => fs::rename(&path, self.path("old"))?,
                None => fs::remove_file(&path)?,
            }
        }
        self.sweep();
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        file.write_all(&index::head())?;
        file.set_len(index::END)?;
        Ok(file)
    }

    /// Removes what other engines left long ago.
    fn sweep(&self) {
        let now = SystemTime::now();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten().take(1000) {
            let written = entry.metadata().and_then(|found| found.modified());
            let stale = written.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > STALE));
            if stale && !entry.file_name().to_string_lossy().starts_with(engine::short()) {
                drop(fs::remove_file(entry.path()));
            }
        }
    }

    fn lock(&self) -> io::Result<File> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(self.path("lock"))?;
        let end = Instant::now() + WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(fs::TryLockError::Error(error)) => return Err(error),
                Err(fs::TryLockError::WouldBlock) if Instant::now() >= end => return Err(io::ErrorKind::TimedOut.into()),
                Err(fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn path(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", engine::short()))
    }
}

/// The file again if its head is this engine's.
fn whole(mut file: File) -> Option<File> {
    let mut head = [0; index::HEAD];
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_exact(&mut head).ok()?;
    (head == index::head()).then_some(file)
}

fn lookup(mut file: &File, place: &index::Place) -> io::Result<Option<Sealed<'static>>> {
    let Some(slot) = index::get(file, place)? else { return Ok(None) };
    let len = slot.len as usize;
    if len > LARGEST {
        return Ok(None);
    }
    let mut record = vec![0; SEAL + len];
    file.seek(SeekFrom::Start(slot.at))?;
    file.read_exact(&mut record)?;
    let text = String::from_utf8(record.split_off(SEAL)).map_err(io::Error::other)?;
    let mut seal = [0; SEAL];
    seal.copy_from_slice(&record);
    Ok(Some(Sealed { text: text.into(), seal }))
}
