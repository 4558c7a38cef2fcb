//! Owns a text that is shown again whenever it changes: on a terminal in place, elsewhere one after another.

use std::io::{IsTerminal as _, Stdout, Write as _, stdout};

use terminal_size::{Height, terminal_size};

/// A text on standard output, drawn again in place. Dropping it leaves the terminal as it was.
pub struct Screen {
    terminal: bool,
    shown: Option<String>,
}

impl Screen {
    /// Takes the terminal's other screen, so that what stood there comes back at the end.
    pub fn open() -> Self {
        let terminal = stdout().is_terminal();
        if terminal {
            super::out("\x1b[?1049h\x1b[?25l");
        }
        Screen { terminal, shown: None }
    }

    /// Shows a text, if it is not the one that is shown. False when nobody reads any more.
    pub fn show(&mut self, text: &str) -> bool {
        if self.shown.as_deref() == Some(text) {
            return is_read(&stdout());
        }
        let drawn = if self.terminal { in_place(text, height()) } else { text.to_owned() };
        self.shown = Some(text.to_owned());
        let mut stdout = stdout().lock();
        stdout.write_all(drawn.as_bytes()).and_then(|()| stdout.flush()).is_ok()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.terminal {
            super::out("\x1b[?25h\x1b[?1049l");
        }
    }
}

/// Whether anybody can still read what is written: a reader who left is not noticed by waiting.
#[cfg(unix)]
fn is_read(out: &Stdout) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut watched = [PollFd::new(out, PollFlags::empty())];
    let polled = poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    !(polled.is_ok() && watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP))
}

#[cfg(not(unix))]
fn is_read(_out: &Stdout) -> bool {
    true
}

fn height() -> usize {
    terminal_size().map_or(24, |(_, Height(rows))| usize::from(rows))
}

/// The first lines that fit, each over what stood there, and nothing below them.
fn in_place(text: &str, height: usize) -> String {
    let lines: Vec<&str> = text.lines().take(height.saturating_sub(1)).collect();
    format!("\x1b[H{}\x1b[K\x1b[J", lines.join("\x1b[K\n"))
}

#[cfg(test)]
mod tests {
    use super::in_place;

    #[test]
    fn a_text_is_drawn_over_the_last_one_and_no_line_below_the_screen() {
        assert_eq!(in_place("a\nb\nc\n", 3), "\x1b[Ha\x1b[K\nb\x1b[K\x1b[J");
        assert_eq!(in_place("a\n", 24), "\x1b[Ha\x1b[K\x1b[J");
    }
}
