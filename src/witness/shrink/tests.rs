//! Tests of shrinking.
