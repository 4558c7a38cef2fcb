//! Hooks as git runs them: put in, chained, asked, taken out, in real repositories and with a program that only notes what it is told.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use seedgate::repo::hooks::{self, baseline, install, uninstall};
use seedgate::repo::hooks::{Act, Chain, Dead, HookError, HookName, Installed, Place, Removed, Request, Standing, Was, Wish, Wrote};
use seedgate::tree::Oid;

use crate::sandbox::Sandbox;

const POLICY: &str = "schema = \"seedgate.config/1\"\n";

/// A repository with a stand-in for the program, which writes its arguments and its standard input down and refuses when told to.
struct World {
    sandbox: Sandbox,
    program: PathBuf,
}

impl World {
    fn new() -> Self {
        Self::with_program("bin/seedgate")
    }

    fn with_program(name: impl AsRef<OsStr>) -> Self {
        let sandbox = Sandbox::new(&[]);
        let program = sandbox.beside("").join(name.as_ref());
        let (log, deny) = (sandbox.beside("log"), sandbox.beside("deny"));
        let text = format!(
            "#!/bin/sh\n{{ echo ours \"$@\"; [ \"$2\" != pre-push ] || cat; }} >> '{}'\n[ ! -e '{}' ]\n",
            log.display(),
            deny.display()
        );
        script(&program, &text);
        sandbox.commit_all("base");
        World { sandbox, program }
    }

    fn place(&self) -> Place {
        Place::find(&self.sandbox.environment()).unwrap()
    }

    fn try_init(&self, wishes: &[Wish]) -> Result<Installed, HookError> {
        install(self.place(), &Request { program: &self.program, policy: POLICY, wishes })
    }

    fn init(&self) -> Installed {
        self.try_init(&[]).unwrap()
    }

    fn hook(&self, name: &str) -> PathBuf {
        self.sandbox.top.join(".git/hooks").join(name)
    }

    /// An earlier hook that notes its arguments and its standard input.
    fn earlier(&self, name: &str) -> String {
        let (log, veto) = (self.sandbox.beside("log"), self.sandbox.beside("veto"));
        let text = format!(
            "#!/bin/sh\n{{ echo earlier \"$@\"; [ {name} != pre-push ] || cat; }} >> '{}'\n[ ! -e '{}' ] || exit 7\n",
            log.display(),
            veto.display()
        );
        script(&self.hook(name), &text);
        text
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.sandbox.command("git").args(arguments).stdin(Stdio::null()).output().unwrap()
    }

    fn commit(&self) -> Output {
        self.run(&["commit", "--allow-empty", "-m", "more"])
    }

    fn set(&self, file: &str, there: bool) {
        let path = self.sandbox.beside(file);
        if there { fs::write(path, "").unwrap() } else { fs::remove_file(path).unwrap() }
    }

    /// What was noted since the last look.
    fn log(&self) -> Vec<String> {
        let path = self.sandbox.beside("log");
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, "").unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn remote(&self) -> String {
        let remote = self.sandbox.beside("remote.git").display().to_string();
        self.sandbox.git(["init", "-q", "--bare", &remote]);
        remote
    }

    fn standing(&self, hook: HookName) -> Standing {
        let states = hooks::state(&self.place()).unwrap();
        states.into_iter().find(|state| state.hook == hook).unwrap().standing
    }
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    mode(path, 0o755);
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

fn acts(installed: &Installed) -> Vec<&Act> {
    installed.hooks.iter().map(|planned| &planned.act).collect()
}

/// Every file and link of a folder with its mode and bytes.
fn listing(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let bits = entry.metadata().unwrap().permissions().mode();
        let name = path.display().to_string();
        if kind.is_dir() {
            all.extend(listing(&path));
        } else if kind.is_symlink() {
            all.push((name, bits, fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()));
        } else {
            all.push((name, bits, fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn commit_merge_and_push_ask_the_program_and_obey_it() {
    let world = World::new();
    assert!(world.init().is_whole());
    assert!(world.commit().status.success());
    assert_eq!(world.log(), ["ours hook pre-commit"]);

    world.run(&["checkout", "-q", "-b", "topic", "HEAD~"]);
    world.run(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "side"]);
    assert!(world.run(&["merge", "-q", "--no-edit", "main"]).status.success());
    assert_eq!(world.log(), ["ours hook pre-merge-commit"]);

    let remote = world.remote();
    let head = world.sandbox.line(["rev-parse", "HEAD"]);
    assert!(world.run(&["push", "-q", &remote, "topic", "topic:refs/heads/x"]).status.success());
    let zero = "0".repeat(40);
    let lines = ["topic", "x"].map(|name| format!("refs/heads/topic {head} refs/heads/{name} {zero}"));
    let told = world.log();
    assert_eq!(told[0], format!("ours hook pre-push {remote} {remote}"));
    assert_eq!(told[1..], lines);

    world.set("deny", true);
    assert_eq!(world.commit().status.code(), Some(1));
    assert!(!world.run(&["push", "-q", &remote, "main"]).status.success());
    assert_eq!(world.sandbox.line(["--git-dir", &remote, "for-each-ref", "refs/heads/main"]), "");
}

#[test]
fn a_second_init_changes_nothing() {
    let world = World::new();
    world.earlier("pre-commit");
    world.init();
    let before = listing(&world.sandbox.top);
    let again = world.init();
    assert_eq!(listing(&world.sandbox.top), before);
    assert_eq!(
        acts(&again),
        [&Act::Current(Chain::Runs(world.hook("pre-commit.before-seedgate"))), &Act::Current(Chain::None), &Act::Current(Chain::None)]
    );
    assert!(world.commit().status.success());
    assert_eq!(world.log(), ["earlier", "ours hook pre-commit"]);
}

#[test]
fn a_rehearsal_writes_nothing() {
    let world = World::new();
    world.earlier("pre-commit");
    let before = listing(&world.sandbox.top);
    let installed = world.try_init(&[Wish::Rehearse]).unwrap();
    assert_eq!(acts(&installed)[0], &Act::Install(Was::Earlier, Chain::Runs(world.hook("pre-commit.before-seedgate"))));
    assert_eq!(listing(&world.sandbox.top), before);
}

#[test]
fn a_program_path_of_any_bytes_is_called() {
    for name in ["my tools/seed'gate", "new\nline/$HOME/`id`/\"q\"/s", "back\\slash/*/s"]
        .map(OsStr::new)
        .into_iter()
        .chain([OsStr::from_bytes(b"\xe9\x81\x82\x88/s")])
    {
        let world = World::with_program(name);
        world.earlier("pre-commit");
        world.init();
        assert!(world.commit().status.success(), "{name:?}");
        assert_eq!(world.log(), ["earlier", "ours hook pre-commit"], "{name:?}");
        assert_eq!(world.standing(HookName::PreCommit), Standing::Live, "{name:?}");
        assert!(world.standing(HookName::PrePush) == Standing::Live, "{name:?}");
    }
}

#[test]
fn at_a_commit_the_earlier_hook_goes_first_and_both_must_pass() {
    let world = World::new();
    world.earlier("pre-commit");
    world.init();
    world.set("veto", true);
    assert!(!world.commit().status.success());
    assert_eq!(world.log(), ["earlier"]);
    world.set("veto", false);
    world.set("deny", true);
    assert!(!world.commit().status.success());
    assert_eq!(world.log(), ["earlier", "ours hook pre-commit"]);
}

#[test]
fn what_the_earlier_hook_stages_is_there_when_the_program_judges() {
    let world = World::new();
    script(&world.hook("pre-commit"), "#!/bin/sh\necho mended > mended && git add mended\n");
    script(&world.program, "#!/bin/sh\ngit ls-files --error-unmatch mended >&2\n");
    world.init();
    assert!(world.commit().status.success());
}

#[test]
fn at_a_push_the_program_goes_first_and_both_get_the_same_lines_and_arguments() {
    let world = World::new();
    world.earlier("pre-push");
    world.init();
    let remote = world.remote();
    world.run(&["tag", "v1"]);
    assert!(world.run(&["push", "-q", &remote, "main", "v1"]).status.success());
    let told = world.log();
    let (ours, earlier) = told.split_at(3);
    assert_eq!(ours[0], format!("ours hook pre-push {remote} {remote}"));
    assert_eq!(earlier[0], format!("earlier {remote} {remote}"));
    assert_eq!((ours[1..].len(), &ours[1..]), (2, &earlier[1..]));

    world.set("deny", true);
    assert!(!world.run(&["push", "-q", &remote, "main:refs/heads/b"]).status.success());
    assert!(world.log().iter().all(|line| !line.starts_with("earlier")));
    world.set("deny", false);
    world.set("veto", true);
    assert!(!world.run(&["push", "-q", &remote, "main:refs/heads/b"]).status.success());
    assert_eq!(world.sandbox.line(["--git-dir", &remote, "for-each-ref", "refs/heads/b"]), "");
}

#[test]
fn lines_reach_both_hooks_byte_for_byte() {
    let world = World::new();
    let (ours, earlier) = (world.sandbox.beside("ours"), world.sandbox.beside("earlier"));
    script(&world.program, &format!("#!/bin/sh\ncat > '{}'\n", ours.display()));
    script(&world.hook("pre-push"), &format!("#!/bin/sh\ncat > '{}'\nexit 9\n", earlier.display()));
    world.init();
    let many = "HEAD^{/a  b}\\n %s $x `y` a b c\n".repeat(20_000);
    for lines in [&b""[..], b"one\n", b"a \xff\x81\x88\xe2\x80\xa8 b\n\\c\n", many.as_bytes()] {
        for shell in ["sh", "bash"] {
            let mut child = world.sandbox.command(shell).arg(world.hook("pre-push")).stdin(Stdio::piped()).spawn().unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(9));
            assert!(fs::read(&ours).unwrap() == lines && fs::read(&earlier).unwrap() == lines, "{shell}: {lines:.40?}");
        }
    }
}

#[test]
fn an_earlier_hook_that_does_not_read_its_lines_is_no_failure() {
    let world = World::new();
    script(&world.program, "#!/bin/sh\nexit 0\n");
    script(&world.hook("pre-push"), "#!/bin/sh\nexit 0\n");
    world.init();
    let remote = world.remote();
    let output = world.run(&["push", "-q", &remote, "main"]);
    assert!(output.status.success() && said(&output).is_empty(), "{}", said(&output));
}

#[test]
fn a_symlinked_hook_is_kept_as_a_link_and_never_written_through() {
    let world = World::new();
    let text = "#!/bin/sh\nexit 0\n";
    script(&world.sandbox.top.join("tools/hook.sh"), text);
    symlink("../../tools/hook.sh", world.hook("pre-commit")).unwrap();
    let installed = world.init();
    let aside = world.hook("pre-commit.before-seedgate");
    assert_eq!(acts(&installed)[0], &Act::Install(Was::Earlier, Chain::Runs(aside.clone())));
    assert_eq!(fs::read_to_string(world.sandbox.top.join("tools/hook.sh")).unwrap(), text);
    assert_eq!(fs::read_link(&aside).unwrap(), Path::new("../../tools/hook.sh"));
    assert!(!world.hook("pre-commit").is_symlink());
    assert!(world.commit().status.success());
    uninstall(world.place()).unwrap();
    assert_eq!(fs::read_link(world.hook("pre-commit")).unwrap(), Path::new("../../tools/hook.sh"));
}

#[test]
fn a_hook_that_git_ignored_is_kept_and_does_not_come_alive() {
    let world = World::new();
    world.earlier("pre-commit");
    mode(&world.hook("pre-commit"), 0o644);
    symlink("nowhere", world.hook("pre-push")).unwrap();
    let installed = world.init();
    let kept = |name: &str| Act::Install(Was::Earlier, Chain::Kept(world.hook(&format!("{name}.before-seedgate"))));
    assert_eq!(acts(&installed), [&kept("pre-commit"), &Act::Install(Was::Absent, Chain::None), &kept("pre-push")]);
    assert!(world.commit().status.success());
    assert_eq!(world.log(), ["ours hook pre-commit"]);
}

#[test]
fn uninstall_gives_back_the_hooks_folder_as_it_was() {
    let world = World::new();
    world.earlier("pre-commit");
    mode(&world.hook("pre-commit"), 0o711);
    fs::write(world.hook("pre-push"), b"\xff not executable").unwrap();
    symlink("commit-msg.sample", world.hook("pre-merge-commit")).unwrap();
    let before = listing(&world.sandbox.top.join(".git/hooks"));
    world.init();
    assert_ne!(listing(&world.sandbox.top.join(".git/hooks")), before);
    let undone = uninstall(world.place()).unwrap();
    assert!(undone.hooks.iter().all(|(_, removed)| *removed == Removed::Restored), "{:?}", undone.hooks);
    assert_eq!(listing(&world.sandbox.top.join(".git/hooks")), before);
    uninstall(world.place()).unwrap();
    assert_eq!(listing(&world.sandbox.top.join(".git/hooks")), before);
    assert!(world.sandbox.top.join(".seedgate/config.toml").exists());
}

#[test]
fn uninstall_touches_nothing_that_is_not_ours() {
    let world = World::new();
    world.init();
    world.earlier("pre-commit");
    fs::rename(world.hook("pre-push"), world.hook("pre-push.legacy")).unwrap();
    let undone = uninstall(world.place()).unwrap();
    let done: Vec<_> = undone.hooks.iter().map(|(path, removed)| (path.file_name().unwrap().to_str().unwrap(), removed)).collect();
    let wanted = [
        ("pre-commit", &Removed::Foreign(None)),
        ("pre-merge-commit", &Removed::Gone),
        ("pre-push", &Removed::Nothing),
        ("pre-push.legacy", &Removed::Gone),
    ];
    assert_eq!(done, wanted);
    assert!(world.hook("pre-commit").exists());
}

#[test]
fn a_missing_program_or_earlier_hook_refuses_by_name() {
    let world = World::new();
    world.earlier("pre-commit");
    world.init();
    let aside = world.hook("pre-commit.before-seedgate");
    mode(&aside, 0o644);
    let output = world.commit();
    assert!(
        !output.status.success() && said(&output).contains("pre-commit.before-seedgate is gone") && said(&output).contains("seedgate init")
    );
    assert_eq!(world.standing(HookName::PreCommit), Standing::Dead(Dead::NoEarlier(aside.clone())));
    mode(&aside, 0o755);
    for breaking in
        [|path: &Path| mode(path, 0o644), |path: &Path| fs::remove_file(path).unwrap(), |path: &Path| fs::create_dir(path).unwrap()]
    {
        breaking(&world.program);
        for arguments in [&["commit", "--allow-empty", "-m", "x"][..], &["push", &world.remote(), "main"]] {
            let output = world.run(arguments);
            assert_eq!(output.status.code(), Some(1), "{}", said(&output));
            assert!(
                said(&output).contains(&world.program.display().to_string()) && said(&output).contains("seedgate init"),
                "{}",
                said(&output)
            );
        }
        assert_eq!(world.standing(HookName::PrePush), Standing::Dead(Dead::NoProgram(world.program.clone())));
    }
}

#[test]
fn a_moved_program_is_recorded_anew_and_the_earlier_hook_stays_chained_once() {
    let mut world = World::new();
    world.earlier("pre-commit");
    world.init();
    let moved = world.sandbox.beside("elsewhere");
    fs::rename(&world.program, &moved).unwrap();
    world.program = moved;
    let installed = world.init();
    assert_eq!(acts(&installed)[0], &Act::Install(Was::Outdated, Chain::Runs(world.hook("pre-commit.before-seedgate"))));
    assert!(world.commit().status.success());
    assert_eq!(world.log(), ["earlier", "ours hook pre-commit"]);
}

#[test]
fn an_earlier_hook_that_leads_back_to_ours_does_not_run_for_ever() {
    let world = World::new();
    script(&world.hook("pre-commit"), "#!/bin/sh\necho earlier >> ../log\nexec \"$(dirname \"$0\")/pre-commit\" \"$@\"\n");
    world.init();
    assert!(world.commit().status.success());
    assert_eq!(world.log(), ["earlier", "ours hook pre-commit", "ours hook pre-commit"]);
}

#[test]
fn two_earlier_hooks_are_not_guessed_between() {
    let world = World::new();
    let text = world.earlier("pre-commit");
    world.init();
    script(&world.hook("pre-commit"), &text);
    assert!(world.init().is_whole(), "the same hook once more is no second one");
    script(&world.hook("pre-commit"), "#!/bin/sh\n");
    let before = listing(&world.sandbox.top.join(".git/hooks"));
    let installed = world.init();
    assert!(matches!(acts(&installed)[0], Act::Blocked(says) if says.contains("pre-commit.before-seedgate")) && !installed.is_whole());
    assert_eq!(listing(&world.sandbox.top.join(".git/hooks")), before);
}

#[test]
fn a_hook_written_by_hand_that_calls_seedgate_is_left_alone() {
    let world = World::new();
    script(&world.hook("pre-commit"), "#!/bin/sh\nmake lint\nseedgate hook pre-commit \"$@\"\n");
    let installed = world.init();
    assert_eq!(acts(&installed)[0], &Act::Called(world.hook("pre-commit")));
    assert_eq!(world.standing(HookName::PreCommit), Standing::Called(world.hook("pre-commit")));
}

#[test]
fn hooks_go_where_git_looks_when_that_is_the_repositorys_own() {
    for value in ["own-hooks", "deep/er/hooks", "ABSOLUTE"] {
        let world = World::new();
        let value = value.replace("ABSOLUTE", &world.sandbox.top.join(".git/mine").display().to_string());
        world.sandbox.git(["config", "core.hooksPath", &value]);
        let installed = world.init();
        assert!(installed.is_whole());
        assert!(world.sandbox.top.join(&value).join("pre-commit").exists());
        fs::create_dir_all(world.sandbox.top.join("sub")).unwrap();
        let output = world
            .sandbox
            .command("git")
            .current_dir(world.sandbox.top.join("sub"))
            .args(["commit", "--allow-empty", "-m", "x"])
            .output()
            .unwrap();
        assert!(output.status.success());
        assert_eq!(world.log(), ["ours hook pre-commit"], "{value}");
        uninstall(world.place()).unwrap();
        assert!(!world.sandbox.top.join(&value).join("pre-commit").exists());
    }
}

#[test]
fn a_tracked_hooks_folder_is_not_written_and_the_lines_to_add_work() {
    let world = World::new();
    let log = world.sandbox.beside("log").display().to_string();
    script(&world.sandbox.top.join(".githooks/pre-push"), &format!("#!/bin/sh\n{{ echo earlier; cat; }} >> '{log}'\n"));
    world.sandbox.commit_all("hooks");
    world.sandbox.git(["config", "core.hooksPath", ".githooks"]);
    let installed = world.init();
    assert_eq!(world.sandbox.line(["status", "--porcelain", ".githooks"]), "");
    assert!(!installed.is_whole());
    for planned in &installed.hooks {
        let Act::Ask(advice) = &planned.act else { panic!("{planned:?}") };
        assert!(advice.why.contains("core.hooksPath is .githooks"), "{}", advice.why);
        let old = fs::read_to_string(&advice.file).unwrap_or_default();
        let (first, rest) = old.split_once('\n').unwrap_or_default();
        script(&advice.file, format!("{first}\n{}\n{rest}", advice.lines.join("\n")).trim_start());
        assert_eq!(advice.exists, planned.hook == HookName::PrePush);
    }
    let again = world.init();
    assert!(again.is_whole() && again.hooks.iter().all(|planned| matches!(planned.act, Act::Called(_))));
    let path = format!("{}:{}", world.program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let run = |arguments: &[&str]| world.sandbox.command("git").env("PATH", &path).args(arguments).output().unwrap();
    assert!(run(&["commit", "--allow-empty", "-m", "x"]).status.success());
    assert_eq!(world.log(), ["ours hook pre-commit"]);
    let remote = world.remote();
    assert!(run(&["push", "-q", &remote, "main"]).status.success());
    let told = world.log();
    assert_eq!((told.len(), told[0].as_str(), told[2].as_str()), (4, format!("ours hook pre-push {remote} {remote}").as_str(), "earlier"));
    assert_eq!(told[1], told[3]);
    world.set("deny", true);
    assert!(!run(&["commit", "--allow-empty", "-m", "x"]).status.success());
}

#[test]
fn a_hooks_folder_that_is_not_the_repositorys_is_refused_by_name() {
    let world = World::new();
    let shared = world.sandbox.beside("shared");
    fs::create_dir(&shared).unwrap();
    for (value, says) in [(shared.display().to_string(), "make it point inside"), ("/dev/null".to_owned(), "not a folder")] {
        world.sandbox.git(["config", "core.hooksPath", &value]);
        let error = world.try_init(&[]).unwrap_err();
        assert_eq!(error.exit().code(), 69);
        assert!(error.to_string().contains("core.hooksPath") && error.to_string().contains(says), "{error}");
    }
    world.sandbox.git(["config", "--unset", "core.hooksPath"]);
    fs::rename(world.sandbox.top.join(".git/hooks"), shared.join("hooks")).unwrap();
    symlink(shared.join("hooks"), world.sandbox.top.join(".git/hooks")).unwrap();
    assert!(world.try_init(&[]).unwrap_err().to_string().contains("others"));
    assert!(!world.sandbox.top.join(".seedgate").exists());
    assert!(fs::read_dir(&shared).unwrap().count() == 1 && !shared.join("hooks/pre-commit").exists());
}

#[test]
fn a_users_hooks_folder_for_all_repositories_is_linked_to_when_asked_and_let_go_again() {
    let world = World::new();
    let (shared, log) = (world.sandbox.beside("shared"), world.sandbox.beside("log").display().to_string());
    for name in ["pre-commit", "commit-msg"] {
        script(&shared.join(name), &format!("#!/bin/sh\necho shared {name} >> '{log}'\n"));
    }
    let config = world.sandbox.beside("gitconfig");
    fs::write(&config, format!("[core]\n\thooksPath = {}\n", shared.display())).unwrap();
    let told = world.sandbox.told(&[("GIT_CONFIG_GLOBAL", config.as_os_str())]);
    let place = || Place::find(&told).unwrap();
    let commit =
        || world.sandbox.command("git").env("GIT_CONFIG_GLOBAL", &config).args(["commit", "--allow-empty", "-m", "x"]).output().unwrap();
    let request = |wishes| Request { program: &world.program, policy: POLICY, wishes };
    let before =
        (listing(&world.sandbox.top.join(".git/hooks")), listing(&shared), fs::read(world.sandbox.top.join(".git/config")).unwrap());

    let error = install(place(), &request(&[])).unwrap_err();
    assert!(error.to_string().contains("core.hooksPath") && error.to_string().contains("--here"), "{error}");
    assert!(install(place(), &request(&[Wish::Here])).unwrap().is_whole());
    assert!(commit().status.success());
    assert_eq!(world.log(), ["shared pre-commit", "ours hook pre-commit", "shared commit-msg"]);
    assert!(hooks::state(&place()).unwrap().iter().all(|state| state.standing == Standing::Live));
    assert!(install(place(), &request(&[])).unwrap().hooks.iter().all(|planned| matches!(planned.act, Act::Current(_))));

    assert!(uninstall(place()).unwrap().abandoned);
    let after =
        (listing(&world.sandbox.top.join(".git/hooks")), listing(&shared), fs::read(world.sandbox.top.join(".git/config")).unwrap());
    assert_eq!(after, before);
    assert!(commit().status.success());
    assert_eq!(world.log(), ["shared pre-commit", "shared commit-msg"]);
}

#[test]
fn other_managers_are_named_with_the_file_to_change() {
    type Prepare = fn(&World);
    let cases: [(&str, Prepare, &str, bool); 5] = [
        (
            "husky",
            |w| {
                fs::create_dir_all(w.sandbox.top.join(".husky/_")).unwrap();
                w.sandbox.git(["config", "core.hooksPath", ".husky/_"]);
            },
            ".husky/pre-commit",
            false,
        ),
        ("lefthook", |w| w.sandbox.write("lefthook.yml", "pre-commit:\n"), "lefthook.yml", false),
        ("lefthook", |w| script(&w.hook("pre-commit"), "#!/bin/sh\ncall_lefthook run pre-commit\n"), "lefthook.yml", false),
        (
            "pre-commit (the framework)",
            |w| script(&w.hook("pre-commit"), "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n"),
            ".pre-commit-config.yaml",
            true,
        ),
        (
            "prek",
            |w| script(&w.hook("pre-commit"), "#!/bin/sh\n# File generated by prek: https://github.com/j178/prek\n"),
            ".pre-commit-config.yaml",
            true,
        ),
    ];
    for (name, prepare, file, chains) in cases {
        let world = World::new();
        prepare(&world);
        let hook = fs::read(world.hook("pre-commit")).ok();
        let installed = world.init();
        let Act::Ask(advice) = acts(&installed)[0] else { panic!("{name}: {installed:?}") };
        assert!(advice.why.contains(name) && advice.file.ends_with(file) && !installed.is_whole(), "{advice:?}");
        assert_eq!(fs::read(world.hook("pre-commit")).ok(), hook);
        assert!(!world.place().hook(HookName::PreCommit).with_extension("before-seedgate").exists());
        let chained = world.try_init(&[Wish::Chain]).unwrap();
        assert_eq!(matches!(acts(&chained)[0], Act::Install(Was::Earlier, Chain::Runs(_))), chains, "{name}");
    }
}

#[test]
fn a_manager_that_calls_seedgate_is_known_and_believed_only_when_its_hook_is_live() {
    let world = World::new();
    world.sandbox.write("lefthook.yml", "pre-commit:\n  commands:\n    seedgate:\n      run: seedgate hook pre-commit\n");
    let config = world.sandbox.top.join("lefthook.yml");
    assert_eq!(acts(&world.init())[0], &Act::Called(config.clone()));
    assert_eq!(world.standing(HookName::PreCommit), Standing::Dead(Dead::Missing));
    script(&world.hook("pre-commit"), "#!/bin/sh\ncall_lefthook run \"pre-commit\" \"$@\"\n");
    assert_eq!(world.standing(HookName::PreCommit), Standing::Called(config));
    mode(&world.hook("pre-commit"), 0o644);
    assert_eq!(world.standing(HookName::PreCommit), Standing::Dead(Dead::NotExecutable));
}

#[test]
fn linked_work_trees_share_hooks_and_baseline() {
    let world = World::new();
    let linked = world.sandbox.beside("linked tree");
    world.sandbox.git([OsStr::new("worktree"), OsStr::new("add"), OsStr::new("-q"), OsStr::new("-blinked"), linked.as_os_str()]);
    world.init();
    let world = World { sandbox: world.sandbox.at(linked.clone()), program: world.program };
    assert!(world.commit().status.success());
    assert_eq!(world.log(), ["ours hook pre-commit"]);
    let again = world.init();
    assert!(again.notes.iter().any(|note| note.contains("linked work tree")), "{:?}", again.notes);
    assert!(again.hooks.iter().all(|planned| planned.act == Act::Current(Chain::None)) && matches!(again.baseline, Wrote::Kept(_)));
    assert!(matches!(&again.policy, Wrote::New(path) if *path == linked.join(".seedgate/config.toml")));
}

#[test]
fn a_work_tree_of_a_bare_repository_has_live_hooks_and_the_bare_one_has_no_place_for_them() {
    let world = World::new();
    let bare = world.sandbox.beside("bare.git");
    world.sandbox.git([OsStr::new("clone"), OsStr::new("-q"), OsStr::new("--bare"), world.sandbox.top.as_os_str(), bare.as_os_str()]);
    let tree = world.sandbox.beside("tree");
    let world = World { sandbox: world.sandbox.at(bare), program: world.program };
    assert!(matches!(Place::find(&world.sandbox.environment()), Err(HookError::NoWorkTree(_))));
    world.sandbox.git([OsStr::new("worktree"), OsStr::new("add"), OsStr::new("-q"), tree.as_os_str(), OsStr::new("main")]);
    let world = World { sandbox: world.sandbox.at(tree), program: world.program };
    world.init();
    assert!(world.commit().status.success());
    assert_eq!(world.log(), ["ours hook pre-commit"]);
}

#[test]
fn the_baseline_is_recorded_once_and_moved_only_when_asked() {
    let world = World::new();
    let base = world.sandbox.oid(["rev-parse", "HEAD"]);
    world.sandbox.git(["branch", "same"]);
    world.sandbox.git(["tag", "-a", "-m", "note", "v1"]);
    world.init();
    let read = || baseline::read(&world.sandbox.top.join(".git")).unwrap();
    assert_eq!(read(), Some(vec![base.clone()]));
    world.commit();
    let head = world.sandbox.oid(["rev-parse", "HEAD"]);
    world.init();
    assert_eq!(read(), Some(vec![base.clone()]));
    world.try_init(&[Wish::Rebaseline]).unwrap();
    let mut both: Vec<Oid> = vec![base, head];
    both.sort();
    assert_eq!(read(), Some(both));
    fs::write(world.sandbox.top.join(".git/seedgate/baseline.json"), "{").unwrap();
    assert_eq!(world.try_init(&[]).unwrap_err().exit().code(), 65);
}

#[test]
fn a_policy_is_written_once_and_never_through_a_link() {
    let world = World::new();
    world.init();
    let path = world.sandbox.top.join(".seedgate/config.toml");
    assert_eq!(fs::read_to_string(&path).unwrap(), POLICY);
    fs::write(&path, "mine").unwrap();
    assert_eq!(world.init().policy, Wrote::Kept(path.clone()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    world.sandbox.git(["add", "-f", ".seedgate"]);
    fs::remove_file(&path).unwrap();
    assert_eq!(world.init().policy, Wrote::Kept(path.clone()), "a tracked policy that the work tree does not show");
    assert!(!path.exists());
    world.sandbox.git(["rm", "-q", "--cached", "-r", ".seedgate"]);

    let outside = world.sandbox.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    symlink(&outside, path.parent().unwrap()).unwrap();
    assert!(matches!(world.try_init(&[]), Err(HookError::Link(link)) if link == path.parent().unwrap()));
    fs::remove_file(path.parent().unwrap()).unwrap();
    fs::create_dir(path.parent().unwrap()).unwrap();
    symlink(outside.join("config.toml"), &path).unwrap();
    assert!(matches!(world.try_init(&[]), Err(HookError::Link(link)) if link == path));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn status_tells_for_each_way_a_hook_can_be_dead_what_it_is() {
    type Break = fn(&World);
    let cases: [(Break, fn(&World) -> Standing); 6] = [
        (|_| (), |_| Standing::Live),
        (|w| fs::remove_file(w.hook("pre-commit")).unwrap(), |_| Standing::Dead(Dead::Missing)),
        (|w| mode(&w.hook("pre-commit"), 0o644), |_| Standing::Dead(Dead::NotExecutable)),
        (
            |w| {
                let text = fs::read_to_string(w.hook("pre-commit")).unwrap();
                script(&w.hook("pre-commit"), &text.replace("exit 1", "exit 0"));
            },
            |_| Standing::Dead(Dead::Differs),
        ),
        (
            |w| {
                w.earlier("pre-commit");
            },
            |_| Standing::Dead(Dead::Foreign),
        ),
        (
            |w| {
                w.sandbox.git(["config", "core.hooksPath", "other"]);
            },
            |w| Standing::Dead(Dead::Elsewhere(w.hook("pre-commit"))),
        ),
    ];
    for (breaking, wanted) in cases {
        let world = World::new();
        world.init();
        breaking(&world);
        assert_eq!(world.standing(HookName::PreCommit), wanted(&world));
    }
}

#[test]
fn the_commands_answer_with_text_and_exit_codes() {
    let world = World::new();
    let seedgate = |arguments: &[&str]| world.sandbox.command(env!("CARGO_BIN_EXE_seedgate")).args(arguments).output().unwrap();
    let code = |output: &Output| output.status.code();
    let dry = seedgate(&["init", "--dry-run"]);
    assert!(code(&dry) == Some(0) && said(&dry).contains("would be installed in"), "{}", said(&dry));
    let done = seedgate(&["init"]);
    assert!(code(&done) == Some(0) && said(&done).contains("seedgate: installed in"), "{}", said(&done));
    assert!(said(&seedgate(&["init"])).contains("already installed in"));
    assert!(fs::read_to_string(world.hook("pre-push")).unwrap().contains(env!("CARGO_BIN_EXE_seedgate")));
    let gone = seedgate(&["uninstall"]);
    assert!(code(&gone) == Some(0) && said(&gone).contains("removed") && !world.hook("pre-commit").exists(), "{}", said(&gone));
    assert!(said(&seedgate(&["uninstall"])).contains("nothing to uninstall"));

    script(&world.sandbox.top.join(".githooks/pre-commit"), "#!/bin/sh\n");
    world.sandbox.commit_all("hooks");
    world.sandbox.git(["config", "core.hooksPath", ".githooks"]);
    let asked = seedgate(&["init"]);
    assert_eq!(code(&asked), Some(69));
    assert!(
        said(&asked).contains("help: add to .githooks/pre-commit:\n    seedgate hook pre-commit \"$@\" || exit 1\n"),
        "{}",
        said(&asked)
    );
    assert_eq!(code(&seedgate(&["hook", "post-commit"])), Some(64));
    assert!(said(&seedgate(&["completions", "bash"])).contains("uninstall"));
}
