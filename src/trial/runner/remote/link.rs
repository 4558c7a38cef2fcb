//! Owns the connection to a server: TLS and its keys, and what the server says it can.

use std::fs;
use std::path::Path;
use std::time::Duration;

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::settings::runner::RemoteSettings;
use crate::trial::TrialError;
use crate::trial::runner::remote::call::{Clock, Trouble};
use crate::trial::runner::ssh::placed;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// Most bytes of one message: servers take 4 MiB, whatever they say.
const MESSAGE: usize = 3 << 20;

/// How a server is reached.
pub(super) struct Link {
    endpoint: Endpoint,
    instance: String,
}

/// What a server said of itself.
#[derive(Clone, Copy)]
pub(super) struct Server {
    /// Most bytes of a batch.
    pub(super) most: usize,
}

impl Link {
    pub(super) fn new(settings: &RemoteSettings, top: &Path) -> Result<Self, TrialError> {
        let wrong = |error: tonic::transport::Error| TrialError::input(&settings.endpoint, told(&error));
        let mut endpoint = Endpoint::from_shared(settings.endpoint.clone()).map_err(wrong)?.connect_timeout(CONNECT);
        if settings.endpoint.starts_with("https://") {
            endpoint = endpoint.tls_config(tls(settings, top)?).map_err(wrong)?;
        }
        Ok(Link { endpoint, instance: settings.instance.clone() })
    }

    /// Connects, and asks what the server can.
    pub(super) async fn connect(&self, clock: &Clock) -> Result<(Channel, Server), Trouble> {
        let connected = clock.call(async { Ok(self.endpoint.connect().await) }).await?;
        let channel = connected.map_err(|error| Trouble::Passing(told(&error)))?;
        let said = self.capabilities(channel.clone(), clock).await?;
        Ok((channel, server(&said)?))
    }

    async fn capabilities(&self, channel: Channel, clock: &Clock) -> Result<api::ServerCapabilities, Trouble> {
        let mut client = api::capabilities_client::CapabilitiesClient::new(channel);
        let request = api::GetCapabilitiesRequest { instance_name: self.instance.clone() };
        Ok(clock.call(client.get_capabilities(request)).await?.into_inner())
    }
}

/// Whether the server can what jobs need.
fn server(said: &api::ServerCapabilities) -> Result<Server, Trouble> {
    let sha256 = api::digest_function::Value::Sha256 as i32;
    let refused = |says: &str| Err(Trouble::Final("refused", format!("the server cannot run jobs: {says}")));
    let (Some(cache), Some(execution)) = (&said.cache_capabilities, &said.execution_capabilities) else {
        return refused("it has no cache, or no execution");
    };
    if !execution.exec_enabled {
        return refused("execution is off");
    }
    if !cache.digest_functions.contains(&sha256) {
        return refused("it does not know SHA-256");
    }
    if said.low_api_version.as_ref().is_some_and(|low| low.major > 2) || said.high_api_version.as_ref().is_some_and(|high| high.major < 2) {
        return refused("it does not speak version 2");
    }
    let most = usize::try_from(cache.max_batch_total_size_bytes).ok().filter(|most| *most > 0);
    Ok(Server { most: most.map_or(MESSAGE, |most| most.min(MESSAGE)) })
}

fn tls(settings: &RemoteSettings, top: &Path) -> Result<ClientTlsConfig, TrialError> {
    let read = |path: &String| {
        let file = placed(path, top);
        fs::read(&file).map_err(|error| TrialError::input(file, error.to_string()))
    };
    let mut tls = match &settings.ca {
        Some(ca) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(ca)?)),
        None => ClientTlsConfig::new().with_native_roots(),
    };
    if let Some((cert, key)) = &settings.client {
        tls = tls.identity(Identity::from_pem(read(cert)?, read(key)?));
    }
    if let Some(name) = &settings.server_name {
        tls = tls.domain_name(name.clone());
    }
    Ok(tls)
}

/// An error with what is behind it: the first sentence alone says only that it is one.
fn told(error: &dyn std::error::Error) -> String {
    let mut says = error.to_string();
    let mut next = error.source();
    while let Some(inner) = next {
        let more = inner.to_string();
        if !says.contains(&more) {
            says = format!("{says}: {more}");
        }
        next = inner.source();
    }
    says
}
