//! Owns the declared domain of a property: cases, bounds, finite and structural strategies, opaque ones.

use serde::{Deserialize, Serialize};

/// A declared domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Domain {}
