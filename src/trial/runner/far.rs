//! Owns the far side of the ssh runner: a tar that is what its caller says it is, unpacked into a folder that goes away, and run.

use std::fs;
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

use crate::digest;
use crate::trial::TrialError;
use crate::trial::runner::exec::Engine;
use crate::trial::runner::{Unknown, bundle, job};
use crate::trial::system;

/// Reads a tar, checks it, unpacks it and runs the job in it.
///
/// # Errors
/// [`TrialError::Input`] when the tar is another one or is not taken.
pub fn run(engine: &Engine, input: &mut dyn Read, sha256: &str, total: Duration) -> Result<Result<Vec<u8>, Unknown>, TrialError> {
    let wrong = |says: String| TrialError::input("the tar", says);
    let mut file = tempfile::tempfile().map_err(TrialError::disk("a temporary file"))?;
    let found = digest::sha256_poured(|sum| copy(input, &mut file, sum)).map_err(&wrong)?;
    if found != sha256 {
        return Err(wrong(format!("what came has the SHA-256 {found}, not {sha256}")));
    }
    file.seek(SeekFrom::Start(0)).map_err(TrialError::disk("a temporary file"))?;
    let folder = tempfile::Builder::new().prefix("seedgate-").tempdir().map_err(TrialError::disk("a temporary folder"))?;
    let top = folder.path().canonicalize().map_err(TrialError::disk(folder.path()))?.join("tree");
    fs::create_dir(&top).map_err(TrialError::disk(&top))?;
    bundle::unpack(file, &top).map_err(wrong)?;
    let own = job::FOLDER.iter().fold(top.clone(), |path, part| path.join(part));
    // Whoever asked is gone when this process has another parent: then nobody waits for an answer.
    let caller = system::caller();
    Ok(engine.run(&top, Path::new(&own), total, &|| system::caller() == caller)?.verdict)
}

fn copy(input: &mut dyn Read, file: &mut fs::File, sum: &mut dyn FnMut(&[u8])) -> Result<(), String> {
    let (mut piece, mut left) = (vec![0; 1 << 16], bundle::CAP);
    loop {
        let read = input.read(&mut piece).map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(());
        }
        left = left.checked_sub(read as u64).ok_or_else(|| format!("it has more than the {} bytes that are read", bundle::CAP))?;
        sum(&piece[..read]);
        file.write_all(&piece[..read]).map_err(|error| error.to_string())?;
    }
}
