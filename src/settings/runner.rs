//! Owns `[runner]`: where jobs may run beside this machine, and which paths never leave it.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{Reader, SettingsError, Texts, defaults};

/// `[runner]`: what jobs run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerSettings {
    /// Globs of paths that never leave the machine: a tree that holds one is run here only.
    pub secrets: Vec<String>,
    /// The name of what jobs run on (an image's digest, say); part of every job's key.
    pub toolchain: Option<String>,
    /// Jobs in flight.
    pub jobs: Option<usize>,
    /// How long one job may take, in seconds, whatever is tried again.
    pub deadline: u64,
    /// The sandbox of jobs that run here or behind ssh.
    pub sandbox: Sandbox,
    /// `[runner.ssh]`.
    pub ssh: Option<SshSettings>,
    /// `[runner.remote]`.
    pub remote: Option<RemoteSettings>,
}

/// Whether a local job runs in bubblewrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// When it is there.
    #[default]
    Auto,
    /// Always: without it there is no verdict.
    Require,
    /// Never.
    Off,
}

/// `[runner.ssh]`: an account whose key has the forced command `seedgate runner-exec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshSettings {
    /// `host` or `user@host`.
    pub host: String,
    /// The port; ssh's own choice when absent.
    pub port: Option<u16>,
    /// The private key's file.
    pub identity: Option<String>,
    /// The file of host keys; ssh's own when absent.
    pub known_hosts: Option<String>,
}

/// `[runner.remote]`: a server of the Remote Execution API, version 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// `https://host:port`, or `http://` to this machine.
    pub endpoint: String,
    /// The server's instance.
    pub instance: String,
    /// The interpreter there.
    pub python: String,
    /// Properties of the platform that jobs ask for.
    pub platform: BTreeMap<String, String>,
    /// The file of the authority that signed the server's certificate.
    pub ca: Option<String>,
    /// The files of this client's certificate and key.
    pub client: Option<(String, String)>,
    /// The name that the server's certificate is for, when it is not the endpoint's host.
    pub server_name: Option<String>,
    /// `http://` to another machine: what is sent can be read and changed on the way.
    pub plaintext: bool,
}

impl Default for RunnerSettings {
    fn default() -> Self {
        RunnerSettings {
            secrets: defaults::SECRETS.iter().map(|glob| (*glob).to_owned()).collect(),
            toolchain: None,
            jobs: None,
            deadline: defaults::DEADLINE,
            sandbox: Sandbox::default(),
            ssh: None,
            remote: None,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunnerTable {
    secrets: Texts,
    toolchain: Option<Spanned<String>>,
    jobs: Option<Spanned<i64>>,
    deadline: Option<Spanned<i64>>,
    #[serde(default)]
    sandbox: Sandbox,
    ssh: Option<SshTable>,
    remote: Option<RemoteTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SshTable {
    host: Spanned<String>,
    port: Option<u16>,
    identity: Option<Spanned<String>>,
    known_hosts: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RemoteTable {
    endpoint: Spanned<String>,
    #[serde(default)]
    instance: String,
    python: Option<Spanned<String>>,
    #[serde(default)]
    platform: BTreeMap<Spanned<String>, String>,
    ca: Option<Spanned<String>>,
    cert: Option<Spanned<String>>,
    key: Option<Spanned<String>>,
    server_name: Option<String>,
    #[serde(default)]
    plaintext: bool,
}

impl Reader<'_> {
    pub(super) fn runner(&self, table: RunnerTable) -> Result<RunnerSettings, SettingsError> {
        let usual = RunnerSettings::default();
        Ok(RunnerSettings {
            secrets: self.globs(table.secrets)?.unwrap_or(usual.secrets),
            toolchain: table.toolchain.map(|name| self.plain(name)).transpose()?,
            jobs: table.jobs.map(|jobs| self.number(&jobs, 256)).transpose()?.and_then(|jobs| usize::try_from(jobs).ok()),
            deadline: table.deadline.map_or(Ok(usual.deadline), |deadline| self.number(&deadline, 86_400))?,
            sandbox: table.sandbox,
            ssh: table.ssh.map(|ssh| self.ssh(ssh)).transpose()?,
            remote: table.remote.map(|remote| self.remote(remote)).transpose()?,
        })
    }

    fn ssh(&self, table: SshTable) -> Result<SshSettings, SettingsError> {
        let host = table.host.get_ref();
        let odd = |c: char| !(c.is_ascii_alphanumeric() || "@.-_:%[]".contains(c));
        if host.is_empty() || host.starts_with('-') || host.contains("@-") || host.contains(odd) {
            return Err(self.bad(table.host.span().start, format!("{host:?} is no host; write `host` or `user@host`")));
        }
        Ok(SshSettings {
            host: table.host.into_inner(),
            port: table.port,
            identity: table.identity.map(|path| self.plain(path)).transpose()?,
            known_hosts: table.known_hosts.map(|path| self.plain(path)).transpose()?,
        })
    }

    fn remote(&self, table: RemoteTable) -> Result<RemoteSettings, SettingsError> {
        let endpoint = table.endpoint.get_ref().clone();
        let at = table.endpoint.span().start;
        let host = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"));
        let Some(host) = host.filter(|host| !host.is_empty() && !host.contains(char::is_whitespace)) else {
            return Err(self.bad(at, format!("{endpoint:?} is no endpoint; write `https://host:port`")));
        };
        if endpoint.starts_with("http://") && !is_this_machine(host) && !table.plaintext {
            let says = "anybody on the way could read and change what is sent; use https://, or say `plaintext = true`".to_owned();
            return Err(self.bad(at, says));
        }
        if let Some(name) = table.platform.keys().find(|name| name.get_ref().eq_ignore_ascii_case("network")) {
            let says = "a job has no network, so no property of the platform asks for it; remove the line".to_owned();
            return Err(self.bad(name.span().start, says));
        }
        let client = match (table.cert, table.key) {
            (Some(cert), Some(key)) => Some((self.plain(cert)?, self.plain(key)?)),
            (None, None) => None,
            (Some(one), None) | (None, Some(one)) => {
                return Err(self.bad(one.span().start, "a client's certificate has both `cert` and `key`; write the other one too".into()));
            }
        };
        Ok(RemoteSettings {
            endpoint,
            instance: table.instance,
            python: table.python.map_or_else(|| Ok("python3".to_owned()), |python| self.plain(python))?,
            platform: table.platform.into_iter().map(|(name, value)| (name.into_inner(), value)).collect(),
            ca: table.ca.map(|path| self.plain(path)).transpose()?,
            client,
            server_name: table.server_name,
            plaintext: table.plaintext,
        })
    }

    fn number(&self, number: &Spanned<i64>, most: u64) -> Result<u64, SettingsError> {
        let says =
            || self.bad(number.span().start, format!("{} is too few or too many; write a whole number from 1 to {most}", number.get_ref()));
        u64::try_from(*number.get_ref()).ok().filter(|number| (1..=most).contains(number)).ok_or_else(says)
    }

    /// A word or a path: not empty, in one line, and no option.
    fn plain(&self, text: Spanned<String>) -> Result<String, SettingsError> {
        let odd = text.get_ref().trim().is_empty() || text.get_ref().starts_with('-') || text.get_ref().contains(char::is_control);
        let says = || self.bad(text.span().start, format!("{:?} is nothing that can be used here; correct it", text.get_ref()));
        if odd { Err(says()) } else { Ok(text.into_inner()) }
    }
}

/// Whether what stands behind `http://` is this machine itself.
fn is_this_machine(host: &str) -> bool {
    let host = host.split('/').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, SettingsError};
    use super::Sandbox;

    const HEAD: &str = "schema = \"seedgate.config/1\"\n";

    #[test]
    fn every_key_is_taken() {
        let text = format!(
            "{HEAD}[runner]\nsecrets = [\"*.pem\"]\ntoolchain = \"image\"\njobs = 4\ndeadline = 90\nsandbox = \"require\"\n\
             [runner.ssh]\nhost = \"ci@node\"\nport = 2222\nidentity = \"~/.ssh/k\"\nknown_hosts = \"h\"\n\
             [runner.remote]\nendpoint = \"https://node:50100\"\ninstance = \"i\"\npython = \"python3.11\"\nca = \"ca\"\ncert = \"c\"\nkey = \"k\"\n\
             server_name = \"n\"\n[runner.remote.platform]\nOSFamily = \"linux\"\n"
        );
        let runner = Settings::parse(&text).unwrap().runner;
        assert_eq!((runner.secrets.len(), runner.jobs, runner.deadline, runner.sandbox), (1, Some(4), 90, Sandbox::Require));
        assert_eq!(runner.toolchain.as_deref(), Some("image"));
        let (ssh, remote) = (runner.ssh.unwrap(), runner.remote.unwrap());
        assert_eq!(
            (ssh.host.as_str(), ssh.port, ssh.identity.as_deref(), ssh.known_hosts.as_deref()),
            ("ci@node", Some(2222), Some("~/.ssh/k"), Some("h"))
        );
        assert_eq!((remote.instance.as_str(), remote.python.as_str(), remote.ca.as_deref()), ("i", "python3.11", Some("ca")));
        assert_eq!((remote.client, remote.platform["OSFamily"].as_str()), (Some(("c".into(), "k".into())), "linux"));
    }

    #[test]
    fn what_would_open_a_way_is_refused_by_its_line() {
        for (text, line, says) in [
            ("[runner]\njobs = 0\n", 3, "a whole number from 1 to 256"),
            ("[runner]\nsandbox = \"maybe\"\n", 3, "unknown variant"),
            ("[runner]\nnetwork = true\n", 3, "unknown field `network`"),
            ("[runner.ssh]\nhost = \"-oProxyCommand=x\"\n", 3, "is no host"),
            ("[runner.ssh]\nhost = \"a;b\"\n", 3, "is no host"),
            ("[runner.ssh]\nhost = \"h\"\nidentity = \"-x\"\n", 4, "correct it"),
            ("[runner.remote]\nendpoint = \"node:1\"\n", 3, "is no endpoint"),
            ("[runner.remote]\nendpoint = \"http://node:1\"\n", 3, "plaintext = true"),
            ("[runner.remote]\nendpoint = \"http://127.0.0.1.evil:1\"\n", 3, "plaintext = true"),
            ("[runner.remote]\nendpoint = \"https://n:1\"\ncert = \"c\"\n", 4, "both `cert` and `key`"),
            ("[runner.remote]\nendpoint = \"https://n:1\"\n[runner.remote.platform]\nNetwork = \"on\"\n", 5, "has no network"),
        ] {
            let SettingsError::Bad { line: found, says: complaint, .. } = Settings::parse(&format!("{HEAD}{text}")).unwrap_err();
            assert!(found == line && complaint.contains(says), "{text}: {found}: {complaint}");
        }
        assert!(Settings::parse(&format!("{HEAD}[runner.remote]\nendpoint = \"http://127.0.0.1:1\"\n")).is_ok());
    }
}
