//! Owns what git tells pre-push on standard input: one line a ref.

use std::io::Read;

use super::HookError;
use crate::repo::RefUpdate;
use crate::tree::Oid;

/// Room for about a hundred thousand refs.
const CAP: u64 = 32 << 20;

/// Reads every line. A line that is not understood is an error: what is pushed is never guessed.
///
/// # Errors
/// When the lines cannot be read, are too many, or one is not `REF OID REF OID`.
pub fn pushed(input: impl Read) -> Result<Vec<RefUpdate>, HookError> {
    let mut bytes = Vec::new();
    let unfit = |says: String| HookError::Unfit { path: "standard input".into(), says };
    input.take(CAP + 1).read_to_end(&mut bytes).map_err(HookError::io("read", "standard input"))?;
    if bytes.len() as u64 > CAP {
        return Err(unfit(format!("has more than {CAP} bytes")));
    }
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let updates =
        lines.map(|line| update(line).ok_or_else(|| unfit(format!("holds \"{}\", which names no pushed ref", line.escape_ascii()))));
    updates.collect()
}

/// The local name may be any expression, with spaces in it; so the line is read from its end.
fn update(line: &[u8]) -> Option<RefUpdate> {
    let mut fields = line.rsplitn(4, |byte| *byte == b' ');
    let mut field = || fields.next();
    let (remote, remote_ref, local, local_ref) = (field()?, field()?, field()?, field()?);
    let oid = |hex: &[u8]| std::str::from_utf8(hex).ok().and_then(Oid::from_hex);
    Some(RefUpdate { local_ref: local_ref.to_vec(), local: oid(local)?, remote_ref: remote_ref.to_vec(), remote: oid(remote)? })
}

#[cfg(test)]
mod tests {
    use super::pushed;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const ZERO: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn every_line_is_one_ref_and_the_local_name_may_hold_spaces() {
        let text =
            format!("refs/heads/a {A} refs/heads/b {ZERO}\nHEAD^{{/fix the bug}} {A} refs/heads/c {A}\n(delete) {ZERO} refs/heads/d {A}\n");
        let updates = pushed(text.as_bytes()).unwrap();
        let names: Vec<_> =
            updates.iter().map(|u| (String::from_utf8_lossy(&u.local_ref), String::from_utf8_lossy(&u.remote_ref))).collect();
        assert_eq!(
            names,
            [("refs/heads/a", "refs/heads/b"), ("HEAD^{/fix the bug}", "refs/heads/c"), ("(delete)", "refs/heads/d")]
                .map(|(l, r)| (l.into(), r.into()))
        );
        assert!(updates[0].remote.is_zero() && updates[2].local.is_zero() && !updates[1].remote.is_zero());
    }

    #[test]
    fn ids_of_both_lengths_and_names_of_any_bytes_are_taken() {
        let long = "b".repeat(64);
        let mut line = b"refs/heads/\xff ".to_vec();
        line.extend(format!("{long} refs/heads/x {long}").bytes());
        assert_eq!(pushed(line.as_slice()).unwrap()[0].local.as_str(), long);
    }

    #[test]
    fn nothing_is_pushed_by_no_lines() {
        assert!(pushed(&b""[..]).unwrap().is_empty());
        assert!(pushed(&b"\n"[..]).unwrap().is_empty());
    }

    #[test]
    fn a_line_that_is_not_understood_is_refused() {
        for line in ["refs/heads/a", "a b c", &format!("a {A} b"), &format!("a {A} b {}", &A[1..]), &format!(" {A}  {A}x"), "\0"] {
            assert!(pushed(line.as_bytes()).is_err(), "{line:?}");
        }
        assert!(pushed(std::io::repeat(b'x')).is_err());
    }
}
