//! Owns facts of blobs: modules and digests by blob id, whichever layer has them.
