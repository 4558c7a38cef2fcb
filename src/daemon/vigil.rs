//! Owns waiting until a repository may stand differently, for whoever shows how it stands.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::sleep;
use std::time::Duration;

use crate::daemon::DaemonError;
use crate::daemon::watch::{self, Eyes, Inbox};
use crate::repo::Repo;

/// What no watch tells (a fixture that changes on disk, a daemon that ends) is looked for so often.
const ROUND: Duration = Duration::from_secs(2);
/// How long files must be left alone before they are looked at: git writes several for one commit.
const SETTLE: Duration = Duration::from_millis(100);

enum Told {
    Hint,
    End,
}

/// A watch over one repository's git directory that a signal ends.
pub struct Vigil {
    eyes: Eyes,
    told: Receiver<Told>,
}

impl Vigil {
    /// Starts to watch, and takes the signals that ask a process to end.
    ///
    /// # Errors
    /// When signals cannot be taken.
    pub fn over(repo: &Repo) -> Result<Self, DaemonError> {
        let (tell, told) = sync_channel(1);
        let end: SyncSender<Told> = tell.clone();
        // A full channel already wakes; the end must not be lost in one.
        ctrlc::set_handler(move || drop(end.send(Told::End))).map_err(|error| DaemonError::System(std::io::Error::other(error)))?;
        let inbox = Inbox::new(move || drop(tell.try_send(Told::Hint)));
        let mut eyes = Eyes::new(watch::of_system, inbox);
        eyes.want(folders(repo));
        Ok(Vigil { eyes, told })
    }

    /// Waits for a hint that something changed, or a while; false when it is to end.
    pub fn wait(&mut self) -> bool {
        self.eyes.reopen();
        if let Some(why) = self.eyes.seen().doubt {
            self.eyes.doubt(&why);
        }
        match self.told.recv_timeout(ROUND) {
            Ok(Told::End) | Err(RecvTimeoutError::Disconnected) => return false,
            Ok(Told::Hint) => sleep(SETTLE),
            Err(RecvTimeoutError::Timeout) => {}
        }
        !self.told.try_iter().any(|told| matches!(told, Told::End))
    }
}

/// Where git notes what a commit, a checkout or an installation changes, and where policy and waivers lie.
fn folders(repo: &Repo) -> BTreeSet<PathBuf> {
    let git = [repo.git_dir().to_path_buf(), repo.common_dir().join("refs/heads"), repo.common_dir().join("hooks")];
    let tree = repo.top().into_iter().flat_map(|top| ["", ".seedgate", "docs/waivers"].map(|folder| top.join(folder)));
    git.into_iter().chain([repo.common_dir().to_path_buf()]).chain(tree).filter(|folder| folder.is_dir()).collect()
}
