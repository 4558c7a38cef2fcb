//! Owns what `demo` shows: a sentence, the command a person would type, its own words, its exit.

use std::fmt::Write as _;
use std::path::Path;

use crate::repo::hooks::shown;
use crate::repo::scratch::Ran;
use crate::report::Style;

/// A sentence before the commands it is about.
pub fn demo_step(sentence: &str, style: Style) -> String {
    format!("\n{}\n", style.strong(&format!("# {sentence}")))
}

/// A command with what it said and ended with.
pub fn demo_command(line: &[&str], ran: &Ran, style: Style) -> String {
    let words: Vec<String> = line.iter().map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() }).collect();
    let mut text = format!("{} {}\n", style.dim("$"), words.join(" "));
    for said in ran.text.lines() {
        let _ = writeln!(text, "{}{said}", if said.is_empty() { "" } else { "  " });
    }
    match ran.code {
        Some(0) => {}
        Some(code) => {
            let _ = writeln!(text, "{}", style.dim(&format!("  (exit {code})")));
        }
        None => text.push_str("  (killed)\n"),
    }
    text
}

/// The last words.
pub fn demo_end(kept: Option<&Path>, style: Style) -> String {
    let left = kept.map_or_else(|| "nothing of it is left".to_owned(), |top| format!("the project is in {}", shown(top)));
    format!("\n{} every step went as told; {left}\n", style.good("seedgate:"))
}
