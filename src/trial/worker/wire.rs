//! Owns the lines of seedgate.worker/1: what is asked and what is answered (docs/worker-protocol.md).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::trial::TrialError;
use crate::trial::worker::outcome::{Failure, Outcome, Refusal};
use crate::witness::value::Input;

/// The version that is spoken.
pub(super) const PROTOCOL: u32 = 1;

/// The first request.
#[derive(Serialize)]
pub(super) struct Hello<'a> {
    #[serde(rename = "seedgate.worker")]
    pub(super) protocol: u32,
    pub(super) op: &'static str,
    pub(super) root: &'a str,
    pub(super) path: &'a [String],
    pub(super) memory: Option<u64>,
    pub(super) progress: &'a str,
}

/// Who answers.
#[derive(Clone, Debug, Deserialize)]
pub struct Welcome {
    #[serde(rename = "seedgate.worker")]
    pub(super) protocol: u32,
    /// The language it serves.
    pub language: String,
    /// The version of that.
    pub version: String,
    /// Folders of the language's own and of installed modules.
    #[serde(default)]
    pub home: Vec<String>,
}

/// Asks for a property to be made ready.
#[derive(Serialize)]
pub(super) struct Open<'a> {
    pub(super) op: &'static str,
    pub(super) id: &'a str,
    pub(super) arguments: &'a [String],
}

#[derive(Deserialize)]
pub(super) struct Opened {
    pub(super) property: u32,
}

#[derive(Deserialize)]
pub(super) struct Modules {
    pub(super) modules: Vec<(String, String)>,
}

/// What became of a batch: every input passed but those among `others`.
#[derive(Debug, Deserialize)]
pub(super) struct Batch {
    pub(super) batch: u64,
    pub(super) ran: u64,
    pub(super) others: Vec<Other>,
    /// How many modules are loaded by now; a worker that does not say is asked for them after every run.
    pub(super) loaded: Option<u64>,
}

/// One input that did not pass.
#[derive(Debug, Deserialize)]
pub(super) struct Other {
    pub(super) input: u64,
    outcome: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "kind")]
    word: Option<String>,
    place: Option<String>,
    #[serde(default)]
    message: String,
    /// The worker is not fit to go on.
    #[serde(default)]
    pub(super) restart: bool,
}

impl Other {
    pub(super) fn outcome(self) -> Result<Outcome, TrialError> {
        match self.outcome.as_str() {
            "pass" => Ok(Outcome::Pass),
            "invalid" => Ok(Outcome::Invalid),
            "fail" => {
                let kind = self.kind.ok_or_else(|| TrialError::Protocol("a failure without its type".into()))?;
                Ok(Outcome::Fail(Failure { kind, place: self.place, message: self.message }))
            }
            "error" => Ok(Outcome::Error(Refusal { kind: self.word.unwrap_or_else(|| "worker".into()), message: self.message })),
            other => Err(TrialError::Protocol(format!("there is no outcome {other:?}"))),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Reply<T> {
    Refused { error: Refusal },
    Done(T),
}

/// A request as a line.
pub(super) fn line(request: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(request).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The line that runs inputs; each is written as its one JSON form.
pub(super) fn run(property: u32, batch: u64, inputs: &[Input]) -> Vec<u8> {
    let mut text = format!(r#"{{"op":"run","property":{property},"batch":{batch},"stop_after":1,"inputs":["#);
    for (at, input) in inputs.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&input.to_json());
    }
    text.push_str("]}\n");
    text.into_bytes()
}

/// Reads an answer, or why there is none.
pub(super) fn read<T: DeserializeOwned>(line: &[u8]) -> Result<Result<T, Refusal>, TrialError> {
    match serde_json::from_slice(line) {
        Ok(Reply::Done(done)) => Ok(Ok(done)),
        Ok(Reply::Refused { error }) => Ok(Err(error)),
        Err(error) => Err(TrialError::Protocol(format!("{error} in {:?}", String::from_utf8_lossy(&line[..line.len().min(200)])))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, read, run};
    use crate::trial::worker::outcome::Outcome;
    use crate::witness::value::Input;

    #[test]
    fn inputs_of_a_batch_stand_in_one_line_in_their_one_form() {
        let inputs = [r#"{"n":5}"#, r#"{"n":{"$bytes":"00"}}"#].map(|text| Input::from_json(text.as_bytes()).unwrap());
        let line = String::from_utf8(run(3, 7, &inputs)).unwrap();
        assert_eq!(
            line,
            "{\"op\":\"run\",\"property\":3,\"batch\":7,\"stop_after\":1,\"inputs\":[{\"n\":5},{\"n\":{\"$bytes\":\"00\"}}]}\n"
        );
    }

    #[test]
    fn an_answer_is_read_with_what_did_not_pass() {
        let line = br#"{"batch":7,"ran":3,"newer":1,"others":[{"input":1,"outcome":"invalid"},{"input":2,"outcome":"fail","type":"E","place":"a.py:1","message":"m"}]}"#;
        let batch: Batch = read(line).unwrap().unwrap();
        assert_eq!((batch.batch, batch.ran), (7, 3));
        let outcomes: Vec<Outcome> = batch.others.into_iter().map(|other| other.outcome().unwrap()).collect();
        assert!(matches!(&outcomes[..], [Outcome::Invalid, Outcome::Fail(failure)] if failure.way() == "E at a.py:1"));
    }

    #[test]
    fn what_breaks_the_protocol_is_named_and_a_refusal_is_no_break() {
        let refused = read::<Batch>(br#"{"error":{"kind":"not_found","message":"no"}}"#).unwrap().unwrap_err();
        assert_eq!(refused.kind, "not_found");
        for line in [&b"noise"[..], b"{}", br#"{"batch":"x"}"#, b""] {
            assert!(read::<Batch>(line).unwrap_err().to_string().contains("broke its protocol"));
        }
        let odd: Batch =
            read(br#"{"batch":1,"ran":1,"others":[{"input":0,"outcome":"mood"},{"input":0,"outcome":"fail"}]}"#).unwrap().unwrap();
        assert!(odd.others.into_iter().all(|other| other.outcome().is_err()));
    }
}
