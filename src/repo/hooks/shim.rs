//! Owns the text of an installed hook: writing it, knowing it again, reading back which program it calls.

use std::path::{Path, PathBuf};

use super::HookName;
use super::file::with_suffix;
use crate::repo::native;

const ALONE: &[u8] = include_bytes!("../../../hooks/alone.sh");
const AFTER_EARLIER: &[u8] = include_bytes!("../../../hooks/after-earlier.sh");
const BEFORE_EARLIER: &[u8] = include_bytes!("../../../hooks/before-earlier.sh");

const MARKER: &[u8] = b"# seedgate-hook ";
const PROGRAM: &[u8] = b"\nseedgate=";

/// Where the hook that stood here before Seedgate is kept.
pub(super) fn aside(hook: &Path) -> PathBuf {
    with_suffix(hook, ".before-seedgate")
}

/// The text of a hook that stands at `path` and calls `program`; with `earlier`, the hook kept aside runs too.
pub(super) fn text(hook: HookName, path: &Path, program: &Path, earlier: bool) -> Vec<u8> {
    let template = match (earlier, hook) {
        (false, _) => ALONE,
        (true, HookName::PrePush) => BEFORE_EARLIER,
        (true, HookName::PreCommit | HookName::PreMergeCommit) => AFTER_EARLIER,
    };
    fill(template, &[(b"@NAME@", hook.name().as_bytes().to_vec()), (b"@BINARY@", quoted(program)), (b"@SELF@", quoted(path))])
}

/// A template with each placeholder replaced; what is put in is not looked at again.
fn fill(template: &[u8], values: &[(&[u8], Vec<u8>)]) -> Vec<u8> {
    let mut text = Vec::with_capacity(template.len() + 256);
    let mut rest = template;
    while let Some((first, tail)) = rest.split_first() {
        if let Some((name, value)) = values.iter().find(|(name, _)| rest.starts_with(name)) {
            text.extend_from_slice(value);
            rest = &rest[name.len()..];
        } else {
            text.push(*first);
            rest = tail;
        }
    }
    text
}

/// Whether these bytes were written by some version of `init`.
pub(super) fn is_ours(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').nth(1).is_some_and(|line| line.starts_with(MARKER))
}

/// Whether a hook of ours says that the hook kept aside runs too.
pub(super) fn names_earlier(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"earlier="))
}

/// The program that a hook of ours calls.
pub(super) fn program(bytes: &[u8]) -> Option<PathBuf> {
    value(bytes, PROGRAM).map(|(path, _)| path)
}

/// The path that a hook of ours was written for, which only one with an earlier hook records.
pub(super) fn written_for(bytes: &[u8]) -> Option<PathBuf> {
    let (_, rest) = value(bytes, PROGRAM)?;
    value(rest, b"\nself=").map(|(path, _)| path)
}

/// The path assigned after `name`, and what follows it.
fn value<'b>(bytes: &'b [u8], name: &[u8]) -> Option<(PathBuf, &'b [u8])> {
    let at = bytes.windows(name.len()).position(|window| window == name)?;
    unquoted(&bytes[at + name.len()..])
}

/// A path as one word of a POSIX shell: inside single quotes every byte but the quote stands for itself.
fn quoted(path: &Path) -> Vec<u8> {
    let mut word = vec![b'\''];
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\'' => word.extend_from_slice(b"'\\''"),
            byte => word.push(*byte),
        }
    }
    word.push(b'\'');
    word
}

/// The path that a word made by [`quoted`] stands for, and what follows it.
fn unquoted(mut text: &[u8]) -> Option<(PathBuf, &[u8])> {
    text = text.strip_prefix(b"'")?;
    let mut path = Vec::new();
    loop {
        let end = text.iter().position(|byte| *byte == b'\'')?;
        path.extend_from_slice(&text[..end]);
        text = &text[end + 1..];
        match text.strip_prefix(b"\\''") {
            Some(rest) => {
                path.push(b'\'');
                text = rest;
            }
            None => return Some((PathBuf::from(native::text(path)), text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn a_program_path_of_any_bytes_is_read_back_from_every_hook() {
        for bytes in [&b"/usr/bin/seedgate"[..], b"/a b/it's/'quoted'", b"/new\nline/\xff\x81\x27@NAME@", b"/@BINARY@/$HOME/`x`\\"] {
            let path = Path::new(OsStr::from_bytes(bytes));
            for (hook, earlier) in HookName::ALL.into_iter().flat_map(|hook| [(hook, false), (hook, true)]) {
                let text = text(hook, Path::new("/r/.git/hooks/x"), path, earlier);
                assert!(is_ours(&text));
                assert_eq!(names_earlier(&text), earlier);
                assert_eq!(program(&text).as_deref(), Some(path));
                assert_eq!(written_for(&text).as_deref(), earlier.then_some(Path::new("/r/.git/hooks/x")));
            }
        }
    }

    #[test]
    fn every_placeholder_is_filled() {
        for (hook, earlier) in HookName::ALL.into_iter().flat_map(|hook| [(hook, false), (hook, true)]) {
            let text = String::from_utf8(text(hook, Path::new("/h"), Path::new("/p"), earlier)).unwrap();
            assert!(!text.contains("@NAME@") && !text.contains("@BINARY@") && !text.contains("@SELF@"), "{text}");
            assert!(text.contains("\"$@\""), "{text}");
        }
    }

    #[test]
    fn a_hook_that_only_speaks_of_seedgate_is_not_ours() {
        assert!(!is_ours(b"#!/bin/sh\nexec seedgate hook pre-commit \"$@\"\n"));
        assert!(!is_ours(b"#!/bin/sh\n\n# seedgate-hook 1\n"));
        assert!(!is_ours(b""));
    }
}
