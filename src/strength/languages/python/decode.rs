//! Owns the way from bytes to text: byte order mark, PEP 263 cookie, line ends.

use std::borrow::Cow;

use crate::strength::languages::Unreadable;
use crate::strength::mutants;

/// The UTF-8 byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Largest file that is read, in bytes.
const SIZE_CAP: usize = 4 << 20;

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Latin1,
    Ascii,
}

/// The text, with every line end as `\n`.
pub(super) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, Unreadable> {
    if bytes.len() > SIZE_CAP {
        return Err(refused(bytes, 0, format!("the file has {} bytes, more than the {SIZE_CAP} that are read", bytes.len())));
    }
    if bytes.contains(&0) {
        let at = bytes.iter().position(|b| *b == 0).unwrap_or_default();
        return Err(refused(bytes, at, "source code cannot contain null bytes".to_owned()));
    }
    let (marked, body) = bytes.strip_prefix(MARK).map_or((false, bytes), |body| (true, body));
    let encoding = encoding(body, marked)?;
    let text = match encoding {
        Encoding::Latin1 => Cow::Owned(body.iter().map(|b| char::from(*b)).collect()),
        Encoding::Utf8 => Cow::Borrowed(
            std::str::from_utf8(body)
                .map_err(|e| refused(body, e.valid_up_to(), "not UTF-8, and no encoding is declared that says otherwise".to_owned()))?,
        ),
        Encoding::Ascii => {
            if let Some(at) = body.iter().position(|b| !b.is_ascii()) {
                return Err(refused(body, at, "a byte outside the declared ASCII".to_owned()));
            }
            String::from_utf8_lossy(body)
        }
    };
    Ok(if body.contains(&b'\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { text })
}

/// Where each byte of the text stands in the file, its end too, and how the file's bytes are text.
pub(super) fn offsets(bytes: &[u8], text: &str) -> Result<(Vec<usize>, mutants::Encoding), Unreadable> {
    let (marked, body) = bytes.strip_prefix(MARK).map_or((false, bytes), |body| (true, body));
    let is_latin = encoding(body, marked)? == Encoding::Latin1;
    let (mut offsets, mut at) = (Vec::with_capacity(text.len() + 1), bytes.len() - body.len());
    for c in text.chars() {
        offsets.resize(offsets.len() + c.len_utf8(), at);
        let is_pair = c == '\n' && bytes.get(at..at + 2) == Some(b"\r\n");
        at += if is_pair {
            2
        } else if is_latin {
            1
        } else {
            c.len_utf8()
        };
    }
    offsets.push(at);
    Ok((offsets, if is_latin { mutants::Encoding::Latin1 } else { mutants::Encoding::Utf8 }))
}

fn refused(bytes: &[u8], at: usize, says: String) -> Unreadable {
    Unreadable { line: line_of(bytes, at), says }
}

/// 1-based line of an offset; `\n`, `\r` and `\r\n` end lines.
fn line_of(bytes: &[u8], at: usize) -> u32 {
    let before = &bytes[..at.min(bytes.len())];
    let ends = before.iter().enumerate().filter(|(i, b)| **b == b'\n' || (**b == b'\r' && bytes.get(i + 1) != Some(&b'\n'))).count();
    u32::try_from(ends).unwrap_or(u32::MAX).saturating_add(1)
}

/// The declared encoding: a cookie in the first line, or in the second when the first holds nothing but a comment.
fn encoding(body: &[u8], marked: bool) -> Result<Encoding, Unreadable> {
    let mut lines = body.split(|b| *b == b'\n' || *b == b'\r').take(3);
    let first = lines.next().unwrap_or_default();
    let mut second = lines.next().unwrap_or_default();
    if body.get(first.len()) == Some(&b'\r') && body.get(first.len() + 1) == Some(&b'\n') {
        second = lines.next().unwrap_or_default();
    }
    let found = cookie(first).map(|c| (1, c)).or_else(|| if is_blank(first) { Some((2, cookie(second)?)) } else { None });
    let Some((line, cookie)) = found else { return Ok(Encoding::Utf8) };
    // Beside the mark CPython takes no other spelling: `utf8` is refused there, and read without the mark.
    let name = cookie.to_ascii_lowercase().replace('_', "-");
    if marked && name != "utf-8" && !name.starts_with("utf-8-") {
        return Err(Unreadable { line, says: format!("the file starts with a UTF-8 mark and declares {}", cookie.escape_debug()) });
    }
    known(&name).ok_or_else(|| Unreadable { line, says: format!("the declared encoding {} is not read", cookie.escape_debug()) })
}

fn is_blank(line: &[u8]) -> bool {
    let rest = line.iter().find(|b| !matches!(b, b' ' | b'\t' | 0x0c));
    rest.is_none_or(|b| *b == b'#')
}

/// `coding[:=]\s*([-\w.]+)` in a line that is only a comment.
fn cookie(line: &[u8]) -> Option<String> {
    if !is_blank(line) || !line.contains(&b'#') {
        return None;
    }
    let starts = line.windows(6).enumerate().filter(|(_, w)| *w == b"coding").map(|(at, _)| at + 6);
    for at in starts {
        let Some(rest) = line[at..].strip_prefix(b":").or_else(|| line[at..].strip_prefix(b"=")) else { continue };
        let rest: Vec<u8> = rest.iter().copied().skip_while(|b| matches!(b, b' ' | b'\t')).collect();
        let name: Vec<u8> = rest.into_iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')).collect();
        if !name.is_empty() {
            return String::from_utf8(name).ok();
        }
    }
    None
}

/// The encoding of a name in lower case with dashes.
fn known(name: &str) -> Option<Encoding> {
    let utf8 = matches!(name, "utf-8" | "utf8" | "u8" | "utf" | "utf8-ucs2" | "utf8-ucs4" | "utf-8-sig" | "cp65001");
    let latin = ["latin-1", "iso-8859-1", "iso-latin-1"].iter().any(|n| name == *n || name.starts_with(&format!("{n}-")))
        || matches!(name, "latin1" | "latin" | "l1" | "8859" | "cp819" | "iso8859-1" | "iso8859" | "iso-ir-100" | "ibm819" | "csisolatin1");
    let ascii =
        matches!(name, "ascii" | "us-ascii" | "646" | "ansi-x3.4-1968" | "cp367" | "iso646-us" | "iso-646.irv-1991" | "us" | "ibm367");
    if utf8 || name.starts_with("utf-8-") {
        Some(Encoding::Utf8)
    } else if latin {
        Some(Encoding::Latin1)
    } else {
        ascii.then_some(Encoding::Ascii)
    }
}
