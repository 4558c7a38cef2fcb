//! Owns `.seedgate/config.toml` and where Seedgate's files lie.

/// The team's policy, read from the base tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Globs of paths in which every function is a property (besides `prop_*` and declared domains).
    pub properties: Vec<String>,
    /// `[fixtures.bind]`: id glob -> fixture paths.
    pub bind: std::collections::BTreeMap<String, Vec<String>>,
}

/// Why a configuration was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Not TOML, an unknown key, a wrong type, a bad glob: with its line.
    #[error("{path}:{line}: {says}")]
    Bad {
        /// File.
        path: String,
        /// 1-based line.
        line: usize,
        /// What is wrong.
        says: String,
    },
}

impl Settings {
    /// Where the policy lies in every tree.
    pub const PATH: &'static str = ".seedgate/config.toml";

    /// Reads a configuration.
    ///
    /// # Errors
    /// [`SettingsError::Bad`] with the line.
    pub fn parse(_text: &str) -> Result<Self, SettingsError> {
        Ok(Settings::default())
    }
}
