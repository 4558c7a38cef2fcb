//! Owns the page that draws an audit: one file, no network, and nothing of the project's text is ever markup or code.

use std::io::{self, Write};

use crate::digest;
use crate::gate::audit::Audit;
use crate::report::audit::{Told, audit_json};

const PAGE: &str = include_str!("../../templates/audit.html");
const STYLE: &str = include_str!("../../templates/audit.css");
const SCRIPT: &str = include_str!("../../templates/audit.js");

/// Writes the page. The policy of the page lets only its own style and script act, by their digests, and lets nothing be loaded.
///
/// # Errors
/// When it cannot be read back or written.
pub fn audit_page(audit: &Audit, told: &Told<'_>, out: &mut dyn Write) -> io::Result<()> {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        base64(&digest::sha256(STYLE.as_bytes())),
        base64(&digest::sha256(SCRIPT.as_bytes()))
    );
    for piece in PAGE.split("{{").enumerate() {
        let (name, text) = match piece {
            (0, text) => ("", text),
            (_, piece) => piece.split_once("}}").unwrap_or(("", piece)),
        };
        match name {
            "policy" => out.write_all(policy.as_bytes())?,
            "style" => out.write_all(STYLE.as_bytes())?,
            "script" => out.write_all(SCRIPT.as_bytes())?,
            "data" => audit_json(audit, told, &mut Unmarked(out))?,
            _ => {}
        }
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// JSON in which no `<` stands as itself, so that nothing in it ends the element around it. It stands only in strings.
struct Unmarked<'a>(&'a mut dyn Write);

impl Write for Unmarked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (at, part) in bytes.split(|b| *b == b'<').enumerate() {
            if at > 0 {
                self.0.write_all(b"\\u003c")?;
            }
            self.0.write_all(part)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(part.get(at).copied().unwrap_or_default()));
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit > part.len() { '=' } else { char::from(DIGITS[value as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Unmarked, base64};

    #[test]
    fn base64_is_that_of_everybody_else() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{ff}~?", "w79+Pw==")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn nothing_ends_the_element_around_it_wherever_the_pieces_are_cut() {
        let text = "{\"a\":\"</script><!--<\"}";
        for cut in 0..=text.len() {
            let mut out = Vec::new();
            let mut unmarked = Unmarked(&mut out);
            unmarked.write_all(&text.as_bytes()[..cut]).unwrap();
            unmarked.write_all(&text.as_bytes()[cut..]).unwrap();
            assert!(!out.contains(&b'<'));
            let (read, was): (serde_json::Value, serde_json::Value) =
                (serde_json::from_slice(&out).unwrap(), serde_json::from_str(text).unwrap());
            assert_eq!(read, was);
        }
    }
}
