//! Owns the execution of one action: asked for, waited for again when the line breaks, cancelled when nobody waits any more.

use std::time::{Duration, Instant};

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::longrunning;
use prost::Message as _;
use tonic::transport::Channel;
use tonic::{Code, Streaming};

use crate::trial::runner::Unknown;
use crate::trial::runner::job;
use crate::trial::runner::merkle::Digest;
use crate::trial::runner::remote::call::{self, Clock, Trouble};
use crate::trial::runner::remote::store::message;

/// How long a silent server is waited for before it is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(15);
/// How long it may take to hear that nobody waits.
const CANCEL: Duration = Duration::from_secs(2);

/// Who is asked, and how.
pub(super) struct Ask<'a> {
    pub(super) channel: Channel,
    pub(super) instance: &'a str,
    pub(super) skips_cache: bool,
}

/// What became of an action.
pub(super) struct Executed {
    /// The digest of the verdict's file, or why there is none.
    pub(super) verdict: Result<Digest, Unknown>,
    pub(super) exit: i32,
    pub(super) is_cached: bool,
}

impl Ask<'_> {
    /// Executes an action. `name` is that of an operation that is under way already, then of the one that is.
    pub(super) async fn run(&self, action: &Digest, name: &mut Option<String>, clock: &Clock) -> Result<Executed, Trouble> {
        let mut client = api::execution_client::ExecutionClient::new(self.channel.clone());
        let known = match name.clone() {
            Some(name) => clock.call(client.wait_execution(api::WaitExecutionRequest { name })).await.ok(),
            None => None,
        };
        let stream = match known {
            Some(stream) => stream,
            None => clock.call(client.execute(self.request(action))).await?,
        };
        self.follow(stream.into_inner(), name, clock).await
    }

    fn request(&self, action: &Digest) -> api::ExecuteRequest {
        api::ExecuteRequest {
            instance_name: self.instance.to_owned(),
            skip_cache_lookup: self.skips_cache,
            action_digest: Some(message(action)),
            digest_function: api::digest_function::Value::Sha256 as i32,
            ..api::ExecuteRequest::default()
        }
    }

    async fn follow(
        &self,
        mut stream: Streaming<longrunning::Operation>,
        name: &mut Option<String>,
        clock: &Clock,
    ) -> Result<Executed, Trouble> {
        loop {
            let end = clock.end.min(Instant::now() + SILENCE);
            let said = match call::wait(end, stream.message()).await? {
                Some(said) => said.map_err(|status| Trouble::of(&status))?,
                None if end == clock.end => return Err(Trouble::Deadline),
                None => {
                    self.is_there(clock).await?;
                    continue;
                }
            };
            let operation = said.ok_or_else(|| Trouble::Passing("the server said nothing more".into()))?;
            if !operation.name.is_empty() {
                *name = Some(operation.name.clone());
            }
            if operation.done {
                return done(operation);
            }
        }
    }

    /// A server that hangs answers nothing at all.
    async fn is_there(&self, clock: &Clock) -> Result<(), Trouble> {
        let mut client = api::capabilities_client::CapabilitiesClient::new(self.channel.clone());
        let request = api::GetCapabilitiesRequest { instance_name: self.instance.to_owned() };
        clock.call(client.get_capabilities(request)).await.map(drop)
    }
}

fn done(operation: longrunning::Operation) -> Result<Executed, Trouble> {
    let response = match operation.result {
        Some(longrunning::operation::Result::Response(any)) => api::ExecuteResponse::decode(any.value.as_slice())
            .map_err(|error| Trouble::Passing(format!("no answer of an execution: {error}")))?,
        Some(longrunning::operation::Result::Error(status)) => return Err(Trouble::of_code(Code::from(status.code), &status.message)),
        None => return Err(Trouble::Passing("the execution ended without a result".into())),
    };
    // The status comes first: a result may stand beside a bad one, with any exit code.
    if let Some(status) = response.status.filter(|status| status.code != 0) {
        return Err(Trouble::of_code(Code::from(status.code), &status.message));
    }
    let result = response.result.ok_or_else(|| Trouble::Passing("the execution ended without a result".into()))?;
    let wanted = job::at("verdict.json");
    let file = result.output_files.into_iter().find(|file| file.path == wanted).and_then(|file| file.digest);
    let size = |digest: &api::Digest| u64::try_from(digest.size_bytes).unwrap_or(u64::MAX);
    let verdict = file.map(|digest| Digest { size: size(&digest), hash: digest.hash });
    let none = || Unknown::new("no_verdict", format!("it left no verdict (exit {})", result.exit_code));
    Ok(Executed { verdict: verdict.ok_or_else(none), exit: result.exit_code, is_cached: response.cached_result })
}

/// Ends an operation.
pub(super) async fn cancel(channel: Channel, name: &str) {
    let mut client = longrunning::operations_client::OperationsClient::new(channel);
    let request = longrunning::CancelOperationRequest { name: name.to_owned() };
    // Not by the job's clock: that is what ran out.
    let _ = tokio::time::timeout(CANCEL, client.cancel_operation(request)).await;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
    use bazel_remote_apis::google::longrunning;
    use prost::Message as _;

    use super::{Trouble, done};
    use crate::trial::runner::merkle::{Action, Command, Digest, Folder, Node};

    #[test]
    fn folders_commands_and_actions_are_what_another_encoder_writes() {
        let file = |text: &str, is_executable| Node::File { digest: Digest::of(text.as_bytes()), is_executable };
        let (mut folder, mut blobs) = (Folder::default(), BTreeMap::new());
        for (path, node) in [(vec!["b", "c"], file("1", true)), (vec!["a"], file("", false)), (vec!["l"], Node::Link("a".into()))] {
            folder.put(&path, node);
        }
        let root = folder.seal(&mut blobs);
        for bytes in blobs.values() {
            assert_eq!(api::Directory::decode(bytes.as_slice()).unwrap().encode_to_vec(), *bytes);
        }
        let names = BTreeMap::from([("A".to_owned(), String::new()), ("B".to_owned(), "2".to_owned())]);
        let arguments = ["p", ""].map(str::to_owned);
        let bytes = Command { arguments: &arguments, environment: &names, output: "o", folder: "tree", platform: &names }.bytes();
        let command = api::Command::decode(bytes.as_slice()).unwrap();
        assert_eq!((command.encode_to_vec(), command.arguments.len(), command.working_directory.as_str()), (bytes, 2, "tree"));
        let action = Action { command: &root, input_root: &root, timeout: 600, is_never_cached: true, salt: "s", platform: &names }.bytes();
        assert_eq!(api::Action::decode(action.as_slice()).unwrap().encode_to_vec(), action);
    }

    #[test]
    fn a_status_comes_before_any_result_and_a_result_without_its_file_is_no_verdict() {
        let status = |code| Some(bazel_remote_apis::google::rpc::Status { code, ..Default::default() });
        let digest = api::Digest { hash: "ab".into(), size_bytes: 2 };
        let file = api::OutputFile { path: ".seedgate/job/verdict.json".into(), digest: Some(digest), ..Default::default() };
        let result = |files, exit_code| Some(api::ActionResult { output_files: files, exit_code, ..Default::default() });
        let said = |response: api::ExecuteResponse| {
            let any = bazel_remote_apis::google::protobuf::Any { value: response.encode_to_vec(), ..Default::default() };
            done(longrunning::Operation { done: true, result: Some(longrunning::operation::Result::Response(any)), ..Default::default() })
        };
        let with = |status, result| said(api::ExecuteResponse { status, result, ..Default::default() });
        assert!(matches!(with(status(4), result(vec![file.clone()], 137)), Err(Trouble::Final("timeout", _))));
        assert!(matches!(with(status(13), result(vec![file.clone()], 0)), Err(Trouble::Passing(_))));
        assert!(matches!(with(status(9), result(vec![file.clone()], 0)), Err(Trouble::Missing(_))));
        assert!(matches!(with(None, None), Err(Trouble::Passing(_))));
        assert_eq!(with(status(0), result(Vec::new(), 0)).unwrap().verdict.unwrap_err().word, "no_verdict");
        assert_eq!(with(None, result(vec![file], 1)).unwrap().verdict.unwrap().hash, "ab");
    }
}
