//! Owns the id of the engine: which readers made a fact.

/// Hash of the version, the target, the locked dependencies and the sources of the readers (`build.rs`), lower-case hex.
pub fn id() -> &'static str {
    env!("SEEDGATE_ENGINE")
}

/// The first digits, for file names.
pub fn short() -> &'static str {
    id().get(..12).unwrap_or(id())
}
