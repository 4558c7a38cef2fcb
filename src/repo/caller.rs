//! Owns who called: the git command above this process, which alone knows that a commit is an amend.

use std::fs::File;
use std::io::Read as _;

use super::native;

/// No process stands further above.
const GENERATIONS: usize = 32;
/// What is read of one process's arguments.
const ARGUMENTS: u64 = 4 * 1024 * 1024;

/// The nearest git command above this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// `git commit`.
    Commit {
        /// Whether it amends.
        amend: bool,
    },
    /// Another git command.
    Other,
    /// None, or the system does not show it.
    Unknown,
}

/// Looks upwards from this process. Only Linux shows arguments as files; elsewhere nothing is known.
pub(super) fn caller() -> Caller {
    let Some(mut pid) = native::parent_process() else { return Caller::Unknown };
    for _ in 0..GENERATIONS {
        let Some((arguments, is_git)) = arguments(pid) else { return Caller::Unknown };
        if let Some(caller) = of_arguments(&arguments, is_git) {
            return caller;
        }
        match parent(pid) {
            Some(above) if above > 1 => pid = above,
            _ => return Caller::Unknown,
        }
    }
    Caller::Unknown
}

/// A process's arguments, and whether its program file is named git whatever the arguments say.
fn arguments(pid: u32) -> Option<(Vec<Vec<u8>>, bool)> {
    let mut bytes = Vec::with_capacity(4096);
    File::open(format!("/proc/{pid}/cmdline")).ok()?.take(ARGUMENTS).read_to_end(&mut bytes).ok()?;
    let arguments = bytes.strip_suffix(&[0]).unwrap_or(&bytes).split(|b| *b == 0).map(<[u8]>::to_vec).collect();
    let is_git = std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|file| file.file_name().is_some_and(|name| name == "git"));
    Some((arguments, is_git))
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in brackets and may hold anything, so count from the last one.
    let after = stat.get(stat.iter().rposition(|b| *b == b')')? + 1..)?;
    std::str::from_utf8(after).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// What arguments say; `None` when they are not git's.
fn of_arguments(arguments: &[Vec<u8>], is_git: bool) -> Option<Caller> {
    let (program, rest) = arguments.split_first()?;
    let name = program.rsplit(|b| *b == b'/').next()?;
    if name == b"git-commit" {
        return Some(Caller::Commit { amend: amends(rest) });
    }
    if name != b"git" && !is_git {
        return None;
    }
    let command = rest.iter().scan(false, |value, argument| Some(!leads(argument, value))).position(|found| found)?;
    Some(if rest[command] == b"commit" { Caller::Commit { amend: amends(&rest[command + 1..]) } } else { Caller::Other })
}

/// Whether an argument still stands before git's command; `value` says that the last one wanted this one as its value.
fn leads(argument: &[u8], value: &mut bool) -> bool {
    if std::mem::take(value) {
        return true;
    }
    *value = matches!(
        argument,
        b"-C"
            | b"-c"
            | b"--git-dir"
            | b"--work-tree"
            | b"--namespace"
            | b"--super-prefix"
            | b"--config-env"
            | b"--attr-source"
            | b"--shallow-file"
    );
    argument.first() == Some(&b'-')
}

/// What an option of `git commit` takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Attached,
    Next,
}

use Takes::{Attached, Next, Nothing};

/// Every long option of `git commit`: abbreviations are told apart by all of them.
const LONG: &[(&str, Takes)] = &[
    ("quiet", Nothing),
    ("verbose", Nothing),
    ("file", Next),
    ("author", Next),
    ("date", Next),
    ("message", Next),
    ("reedit-message", Next),
    ("reuse-message", Next),
    ("fixup", Next),
    ("squash", Next),
    ("reset-author", Nothing),
    ("trailer", Next),
    ("signoff", Nothing),
    ("template", Next),
    ("edit", Nothing),
    ("cleanup", Next),
    ("status", Nothing),
    ("gpg-sign", Attached),
    ("all", Nothing),
    ("include", Nothing),
    ("interactive", Nothing),
    ("patch", Nothing),
    ("unified", Next),
    ("inter-hunk-context", Next),
    ("only", Nothing),
    ("verify", Nothing),
    ("dry-run", Nothing),
    ("short", Nothing),
    ("branch", Nothing),
    ("ahead-behind", Nothing),
    ("porcelain", Nothing),
    ("long", Nothing),
    ("null", Nothing),
    ("amend", Nothing),
    ("post-rewrite", Nothing),
    ("untracked-files", Attached),
    ("pathspec-from-file", Next),
    ("pathspec-file-nul", Nothing),
    ("allow-empty", Nothing),
    ("allow-empty-message", Nothing),
];

/// Whether the arguments of `git commit` ask for an amend. The last word counts, as for git.
fn amends(arguments: &[Vec<u8>]) -> bool {
    let (mut amend, mut rest) = (false, arguments.iter());
    while let Some(argument) = rest.next() {
        let takes = match argument.as_slice() {
            b"--" | b"--end-of-options" => break,
            [b'-', b'-', long @ ..] => {
                let (takes, says) = long_option(long);
                amend = says.unwrap_or(amend);
                takes
            }
            [b'-', short @ ..] => short_options(short),
            _ => Nothing,
        };
        if takes == Next {
            rest.next();
        }
    }
    amend
}

/// What a long option takes from the next argument, and what it says about amending.
fn long_option(text: &[u8]) -> (Takes, Option<bool>) {
    let equals = text.iter().position(|b| *b == b'=');
    let name = &text[..equals.unwrap_or(text.len())];
    let (name, negated) = name.strip_prefix(b"no-").map_or((name, false), |positive| (positive, true));
    let meant = || LONG.iter().filter(|(known, _)| known.as_bytes().starts_with(name));
    let exact = meant().find(|(known, _)| known.as_bytes() == name);
    let option = exact.or_else(|| meant().next().filter(|_| meant().nth(1).is_none()));
    match option {
        Some(("amend", _)) => (Nothing, Some(!negated)),
        Some((_, Next)) if equals.is_none() && !negated => (Next, None),
        _ => (Nothing, None),
    }
}

/// What a bundle of short options takes from the next argument: `-am text`, but not `-amtext`.
fn short_options(bundle: &[u8]) -> Takes {
    for (place, option) in bundle.iter().enumerate() {
        match option {
            b'm' | b'F' | b'c' | b'C' | b't' | b'U' => return if place + 1 == bundle.len() { Next } else { Nothing },
            b'S' | b'u' => return Nothing,
            _ => {}
        }
    }
    Nothing
}

#[cfg(test)]
mod tests {
    use super::{Caller, of_arguments};

    fn caller(line: &str) -> Option<Caller> {
        let arguments: Vec<Vec<u8>> = line.split(' ').map(|word| word.replace('_', " ").into_bytes()).collect();
        of_arguments(&arguments, false)
    }

    #[test]
    fn an_amend_is_seen_however_git_lets_it_be_spelled() {
        for line in [
            "git commit --amend",
            "/usr/libexec/git-core/git commit --amend -m text",
            "git-commit --amend",
            "git -C sub -c user.name=x --git-dir .git --work-tree=. commit -m text --amend",
            "git --no-pager commit --am",
            "git commit --ame --no-edit",
            "git commit -am text --amend",
            "git commit -amtext --amend",
            "git commit --message text --amend -- path",
            "git commit --mess text --amend",
            "git commit --message=text --amend",
            "git commit --no-amend --amend",
            "git commit -S --amend",
            "git commit -uno --amend",
            "git commit --gpg-sign --amend",
            "git commit --untracked-files --amend",
            "git commit path --amend",
            "git commit --fixup HEAD --amend",
            "git commit --no-edit --no-verify --amend",
        ] {
            assert_eq!(caller(line), Some(Caller::Commit { amend: true }), "{line}");
        }
    }

    #[test]
    fn a_word_that_only_looks_like_amend_is_none() {
        for line in [
            "git commit",
            "git commit -m --amend",
            "git commit -am --amend",
            "git commit --message --amend",
            "git commit --mess --amend",
            "git commit -F --amend",
            "git commit --author --amend",
            "git commit -- --amend",
            "git commit --end-of-options --amend",
            "git commit --amend --no-amend",
            "git commit --amend --no-am",
            "git commit --message=--amend",
            "git commit -t --amend",
            "git commit --a",
            "git commit --trailer --amend",
            "git commit --fixup=amend:HEAD",
        ] {
            assert_eq!(caller(line), Some(Caller::Commit { amend: false }), "{line}");
        }
    }

    #[test]
    fn other_git_commands_are_told_from_no_git_at_all() {
        for line in ["git merge topic", "git -c a=b rebase -i main", "git push", "/usr/bin/git -C commit merge"] {
            assert_eq!(caller(line), Some(Caller::Other), "{line}");
        }
        for line in ["sh .git/hooks/pre-commit", "python3 git commit --amend", "legit commit --amend", "git", "git --version"] {
            assert_eq!(caller(line), None, "{line}");
        }
        let disguised: Vec<Vec<u8>> = [&b"harmless"[..], b"commit", b"--amend"].map(<[u8]>::to_vec).to_vec();
        assert_eq!(of_arguments(&disguised, true), Some(Caller::Commit { amend: true }));
        assert_eq!(of_arguments(&disguised, false), None);
        assert_eq!(of_arguments(&[], true), None);
    }
}
