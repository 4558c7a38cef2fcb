//! The demo, run to its end.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::sandbox::Sandbox;

fn demo(sandbox: &Sandbox, temporary: &Path, arguments: &[&str]) -> Output {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    command.arg("demo").args(arguments).env("TMPDIR", temporary).output().unwrap()
}

#[test]
fn every_step_goes_as_told_and_nothing_is_left() {
    let sandbox = Sandbox::new(&[]);
    let temporary = sandbox.beside("temporary");
    fs::create_dir(&temporary).unwrap();
    let output = demo(&sandbox, &temporary, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{text}");
    for words in
        ["split_required", "case_removed", "assertion_removed", "seedgate split", "for a human to merge", "every step went as told"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(sandbox.line(["status", "--porcelain"]), "");
}

#[test]
fn the_rust_scene_goes_as_told_and_leaves_nothing() {
    let sandbox = Sandbox::new(&[]);
    let temporary = sandbox.beside("temporary");
    fs::create_dir(&temporary).unwrap();
    let output = demo(&sandbox, &temporary, &["--rust"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{text}");
    assert!(text.contains("src/lib.rs (test, lines 14)") && text.contains("every step went as told"), "{text}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn the_project_stays_where_it_was_asked_for_and_nothing_is_overwritten() {
    let sandbox = Sandbox::new(&[]);
    let keep = sandbox.beside("kept");
    let there = keep.display().to_string();
    assert_eq!(demo(&sandbox, Path::new("/nowhere"), &["--keep", &there]).status.code(), Some(0));
    let kept = sandbox.at(keep.join("project"));
    assert_eq!(kept.line(["log", "--format=%s"]).lines().count(), 6);
    let before = kept.line(["rev-parse", "HEAD"]);
    let again = demo(&kept, Path::new("/nowhere"), &["--keep", &there]);
    assert!(again.status.code() == Some(70) && String::from_utf8_lossy(&again.stderr).contains("is not empty"));
    assert_eq!(kept.line(["rev-parse", "HEAD"]), before);
}

/// Every block of README that begins with a command of the demo, line by line.
#[test]
fn the_readme_shows_what_the_demo_shows() {
    let sandbox = Sandbox::new(&[]);
    let temporary = sandbox.beside("temporary");
    fs::create_dir(&temporary).unwrap();
    let scenes = [&[][..], &["--rust"]].map(|scene| String::from_utf8(demo(&sandbox, &temporary, scene).stdout).unwrap());
    let output = scenes.concat();
    let said: Vec<&str> = output.lines().map(|line| line.strip_prefix("  ").unwrap_or(line).trim_end()).collect();
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let (mut inside, mut commands) = (false, 0);
    for line in readme.lines().filter(|line| !line.is_empty()) {
        let Some(shown) = line.strip_prefix("    ") else {
            inside = false;
            continue;
        };
        if shown.starts_with("$ ") {
            inside = true;
            commands += 1;
        }
        assert!(!inside || said.contains(&shown), "README shows a line that the demo does not say: {shown}");
    }
    assert_eq!(commands, 5);
}
