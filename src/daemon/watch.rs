//! Owns watching folders: hints where to read ahead, never a reason to believe anything. Any doubt ends in a fresh watcher.

use std::collections::{BTreeSet, HashSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::daemon::shared::lock;

/// Most paths that wait to be looked at; one more means that everything may have changed.
const MOST_TOUCHED: usize = 4096;
/// Longest pause before a fresh watcher.
const LONGEST: Duration = Duration::from_mins(1);
/// So many watchers in a row that could not be set up, and the watch stays off.
const FAILURES: u32 = 3;

/// What the watcher saw since it was last asked.
#[derive(Default)]
pub(super) struct Seen {
    /// Paths that were touched.
    pub(super) touched: HashSet<PathBuf>,
    /// Why it may have missed something.
    pub(super) doubt: Option<String>,
}

/// Where a watcher leaves what it sees. Called on the watcher's own thread, so it only notes.
pub(super) struct Inbox {
    seen: Mutex<Seen>,
    ring: Box<dyn Fn() + Send + Sync>,
}

impl Inbox {
    /// `ring` is called when there is something to take.
    pub(super) fn new(ring: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Inbox { seen: Mutex::default(), ring: Box::new(ring) })
    }

    /// Paths were touched.
    pub(super) fn touch(&self, paths: impl IntoIterator<Item = PathBuf>) {
        let mut seen = lock(&self.seen);
        seen.touched.extend(paths);
        if seen.touched.len() > MOST_TOUCHED {
            seen.touched = HashSet::new();
            seen.doubt.get_or_insert_with(|| "too many changes at once".into());
        }
        drop(seen);
        (self.ring)();
    }

    /// Something may have been missed.
    pub(super) fn doubt(&self, why: &str) {
        let mut seen = lock(&self.seen);
        seen.touched = HashSet::new();
        seen.doubt.get_or_insert_with(|| why.to_owned());
        drop(seen);
        (self.ring)();
    }

    /// What was seen since the last time.
    pub(super) fn take(&self) -> Seen {
        mem::take(&mut lock(&self.seen))
    }
}

/// Something that watches folders, each by itself and not what lies below.
pub(super) trait Watch: Send {
    /// Watches one more folder.
    fn add(&mut self, folder: &Path) -> Result<(), String>;
    /// Watches a folder no more.
    fn remove(&mut self, folder: &Path);
}

/// Makes watchers.
pub(super) type Maker = fn(Arc<Inbox>) -> Result<Box<dyn Watch>, String>;

/// A watcher of the operating system.
pub(super) fn of_system(inbox: Arc<Inbox>) -> Result<Box<dyn Watch>, String> {
    let config = Config::default().with_follow_symlinks(false);
    let watcher = RecommendedWatcher::new(move |event| note(&inbox, event), config).map_err(|error| says(&error))?;
    Ok(Box::new(System(watcher)))
}

struct System(RecommendedWatcher);

impl Watch for System {
    fn add(&mut self, folder: &Path) -> Result<(), String> {
        match self.0.watch(folder, RecursiveMode::NonRecursive) {
            // A folder that is gone by now has nothing to read ahead.
            Err(error) if matches!(error.kind, ErrorKind::PathNotFound) => Ok(()),
            other => other.map_err(|error| says(&error)),
        }
    }

    fn remove(&mut self, folder: &Path) {
        let _ = self.0.unwatch(folder);
    }
}

fn note(inbox: &Inbox, event: notify::Result<Event>) {
    match event {
        Ok(event) if event.need_rescan() => inbox.doubt("the system dropped events"),
        Ok(Event { kind: EventKind::Access(_), .. }) => {}
        Ok(event) => inbox.touch(event.paths),
        Err(error) => inbox.doubt(&says(&error)),
    }
}

fn says(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => "the limit of watches is reached (fs.inotify.max_user_watches)".into(),
        ErrorKind::Io(io) if io.raw_os_error() == Some(24) => "the limit of watchers is reached (fs.inotify.max_user_instances)".into(),
        kind => format!("{kind:?}"),
    }
}

/// The watcher in use, or why there is none. Every doubt costs it its life; the next one starts after a pause.
pub(super) struct Eyes {
    maker: Maker,
    inbox: Arc<Inbox>,
    watcher: Option<Box<dyn Watch>>,
    folders: BTreeSet<PathBuf>,
    wanted: BTreeSet<PathBuf>,
    doubts: u32,
    failures: u32,
    opened: Instant,
    next: Option<Instant>,
    off: Option<String>,
}

impl Eyes {
    pub(super) fn new(maker: Maker, inbox: Arc<Inbox>) -> Self {
        Eyes {
            maker,
            inbox,
            watcher: None,
            folders: BTreeSet::new(),
            wanted: BTreeSet::new(),
            doubts: 0,
            failures: 0,
            opened: Instant::now(),
            next: Some(Instant::now()),
            off: None,
        }
    }

    /// What was seen since the last time.
    pub(super) fn seen(&self) -> Seen {
        self.inbox.take()
    }

    /// Watches exactly these folders from now on.
    pub(super) fn want(&mut self, folders: BTreeSet<PathBuf>) {
        self.wanted = folders;
        if self.watcher.is_some() {
            self.adjust();
        }
    }

    /// Something may have been missed: away with the watcher, and with what it saw.
    pub(super) fn doubt(&mut self, why: &str) {
        if self.opened.elapsed() > LONGEST {
            self.doubts = 0;
        }
        self.close(why);
        self.doubts += 1;
        let pause = Duration::from_secs(1 << (self.doubts - 1).min(6)).min(LONGEST);
        self.next = (self.failures < FAILURES).then(|| Instant::now() + pause);
    }

    /// When a fresh watcher is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.next
    }

    /// Opens a fresh watcher when it is due; true when it did, and then everything should be looked at once.
    pub(super) fn reopen(&mut self) -> bool {
        if self.next.is_none_or(|at| at > Instant::now()) {
            return false;
        }
        self.next = None;
        self.inbox.take();
        match (self.maker)(Arc::clone(&self.inbox)) {
            Ok(watcher) => {
                self.watcher = Some(watcher);
                self.opened = Instant::now();
                self.off = None;
                self.adjust();
            }
            Err(why) => self.fail(&why),
        }
        self.watcher.is_some()
    }

    /// Watches held, and why there is no watcher.
    pub(super) fn state(&self) -> (usize, Option<String>) {
        (self.folders.len(), self.off.clone())
    }

    fn adjust(&mut self) {
        let Some(watcher) = self.watcher.as_mut() else { return };
        for folder in self.folders.difference(&self.wanted) {
            watcher.remove(folder);
        }
        self.folders.retain(|folder| self.wanted.contains(folder));
        let mut trouble = None;
        for folder in &self.wanted {
            if self.folders.contains(folder) {
                continue;
            }
            if let Err(why) = watcher.add(folder) {
                trouble = Some(why);
                break;
            }
            self.folders.insert(folder.clone());
        }
        match trouble {
            Some(why) => self.fail(&why),
            None => self.failures = 0,
        }
    }

    fn fail(&mut self, why: &str) {
        self.failures += 1;
        self.doubt(why);
    }

    fn close(&mut self, why: &str) {
        self.watcher = None;
        self.folders = BTreeSet::new();
        self.off = Some(why.to_owned());
        self.inbox.take();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use notify::event::{AccessKind, CreateKind, Flag};
    use notify::{Error, Event, EventKind};

    use super::{Eyes, Inbox, MOST_TOUCHED, Watch, note};

    fn folders(names: &[&str]) -> BTreeSet<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    struct Limited;

    impl Watch for Limited {
        fn add(&mut self, folder: &Path) -> Result<(), String> {
            if folder.starts_with("full") { Err("full".into()) } else { Ok(()) }
        }
        fn remove(&mut self, _folder: &Path) {}
    }

    #[expect(clippy::unnecessary_wraps, reason = "every maker has this shape")]
    fn limited(_inbox: Arc<Inbox>) -> Result<Box<dyn Watch>, String> {
        Ok(Box::new(Limited))
    }

    fn none(_inbox: Arc<Inbox>) -> Result<Box<dyn Watch>, String> {
        Err("no instances".into())
    }

    #[test]
    fn a_dropped_event_or_any_error_is_a_doubt_and_forgets_what_was_seen() {
        let troubles: [notify::Result<Event>; 3] = [
            Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)),
            Err(Error::new(notify::ErrorKind::MaxFilesWatch)),
            Err(Error::generic("anything")),
        ];
        for trouble in troubles {
            let inbox = Inbox::new(|| {});
            inbox.touch([PathBuf::from("a")]);
            note(&inbox, trouble);
            let seen = inbox.take();
            assert!(seen.doubt.is_some() && seen.touched.is_empty());
        }
    }

    #[test]
    fn reading_is_no_hint_and_writing_is() {
        let inbox = Inbox::new(|| {});
        note(&inbox, Ok(Event::new(EventKind::Access(AccessKind::Any)).add_path("a".into())));
        assert!(inbox.take().touched.is_empty());
        note(&inbox, Ok(Event::new(EventKind::Create(CreateKind::File)).add_path("a".into())));
        assert_eq!(inbox.take().touched.len(), 1);
    }

    #[test]
    fn more_hints_than_fit_are_a_doubt() {
        let inbox = Inbox::new(|| {});
        inbox.touch((0..=MOST_TOUCHED).map(|number| PathBuf::from(number.to_string())));
        let seen = inbox.take();
        assert!(seen.doubt.is_some() && seen.touched.is_empty());
    }

    #[test]
    fn a_doubt_ends_the_watcher_and_a_fresh_one_watches_the_same_folders() {
        let mut eyes = Eyes::new(limited, Inbox::new(|| {}));
        assert!(eyes.reopen());
        eyes.want(folders(&["a", "b"]));
        assert_eq!(eyes.state(), (2, None));
        eyes.doubt("rescan");
        assert!(eyes.due().is_some());
        assert_eq!(eyes.state(), (0, Some("rescan".into())));
        assert!(!eyes.reopen(), "not before the pause is over");
        eyes.next = Some(std::time::Instant::now());
        assert!(eyes.reopen());
        assert_eq!(eyes.state(), (2, None));
    }

    #[test]
    fn three_watchers_that_cannot_be_set_up_are_the_last() {
        for (maker, wanted) in [(none as super::Maker, &["a"]), (limited, &["full"])] {
            let mut eyes = Eyes::new(maker, Inbox::new(|| {}));
            eyes.want(folders(wanted));
            for _ in 0..3 {
                assert!(eyes.due().is_some());
                eyes.next = Some(std::time::Instant::now());
                assert!(!eyes.reopen());
            }
            assert!(eyes.due().is_none());
            assert!(eyes.state().1.is_some_and(|why| !why.is_empty()));
        }
    }
}
