//! Owns an outside reducer: a program that offers smaller inputs and is believed in nothing.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::trial::worker::process::{Heard, Process};
use crate::trial::{TrialError, interrupt};
use crate::witness::value::Input;

/// How long it may take for all it has to offer.
const TIME: Duration = Duration::from_mins(2);
/// How often it is looked whether somebody wants it to end.
const TICK: Duration = Duration::from_millis(50);

/// What it offered.
#[derive(Debug, Default)]
pub struct Offer {
    /// Inputs, in its order.
    pub inputs: Vec<Input>,
    /// Lines that are no inputs.
    pub unread: u64,
}

/// Asks a shell command: the raw input as one JSON line on its standard input, candidates as JSON lines on its standard output, at most
/// `most` of them.
///
/// # Errors
/// When it cannot be started, or somebody wants it to end. What it offers in time counts, however it ends.
pub fn ask(command: &str, raw: &Input, most: u64) -> Result<Offer, TrialError> {
    let home = tempfile::Builder::new().prefix("seedgate-").tempdir().map_err(TrialError::disk("a temporary folder"))?;
    let here = std::env::current_dir().map_err(TrialError::disk("."))?;
    let arguments: [OsString; 2] = ["-c".into(), command.into()];
    let mut process = Process::start(Path::new("/bin/sh"), &arguments, &here, home.path())?;
    process.send(format!("{}\n", raw.to_json()).into_bytes());
    process.close();
    let (mut offer, start) = (Offer::default(), Instant::now());
    while (offer.inputs.len() as u64) < most && start.elapsed() < TIME {
        interrupt::check()?;
        match process.hear(TICK)? {
            Heard::Line(line) if line.trim_ascii().is_empty() => {}
            Heard::Line(line) => match Input::from_json(&line) {
                Ok(input) => offer.inputs.push(input),
                Err(_) => offer.unread += 1,
            },
            Heard::Nothing => {}
            Heard::End => break,
        }
    }
    Ok(offer)
}

#[cfg(test)]
mod tests {
    use super::ask;
    use crate::witness::value::Input;

    #[test]
    fn it_is_shown_the_raw_input_and_what_it_offers_is_read_as_far_as_it_is_inputs() {
        let raw = Input::from_json(br#"{"n":9}"#).unwrap();
        let offer = ask(r#"read line; echo "$line"; echo noise; echo; echo '{"n":1}'; exit 3"#, &raw, 10).unwrap();
        assert_eq!(offer.inputs.iter().map(Input::to_json).collect::<Vec<_>>(), [r#"{"n":9}"#, r#"{"n":1}"#]);
        assert_eq!(offer.unread, 1);
        assert_eq!(ask("yes '{\"n\":1}'", &raw, 5).unwrap().inputs.len(), 5);
    }
}
