//! Reads every Python file (with `--rust` every Rust file) under the given folders and prints one JSON line a file: what it was, how many assertions each function
//! holds; the last line has the time spent on bytes already in memory. `cards.py` compares it with `CPython`'s own `ast`.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use seedgate::strength::languages::facts::Role;
use seedgate::strength::languages::{Language, Module, Unreadable};
use serde_json::json;

fn main() {
    let mut files = Vec::new();
    let is_rust = std::env::args().any(|a| a == "--rust");
    let (language, ending) = if is_rust { (Language::Rust, "rs") } else { (Language::Python, "py") };
    for folder in std::env::args().skip(1).filter(|a| !a.starts_with("--")) {
        walk(Path::new(&folder), ending, &mut files);
    }
    files.sort();
    let read: Vec<(PathBuf, Vec<u8>)> = files.into_iter().filter_map(|p| Some((p.clone(), std::fs::read(&p).ok()?))).collect();
    let mut best = f64::MAX;
    for _ in 0..5 {
        let (start, cpu) = (Instant::now(), on_cpu().unwrap_or_default());
        for (_, bytes) in &read {
            drop(black_box(language.module(bytes)));
        }
        best = best.min(on_cpu().map_or(start.elapsed().as_secs_f64(), |now| now - cpu));
    }
    for (path, bytes) in &read {
        println!("{}", line(path, &language.module(bytes)));
    }
    let bytes: usize = read.iter().map(|(_, bytes)| bytes.len()).sum();
    println!("{}", json!({"files": read.len(), "bytes": bytes, "seconds": best}));
}

/// Seconds that this process was on a processor, where the system tells: other work on the machine does not count.
fn on_cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

fn line(path: &Path, answer: &Result<Module, Unreadable>) -> serde_json::Value {
    match answer {
        Err(why) => json!({"path": path, "line": why.line, "refused": why.says}),
        Ok(module) => {
            let plain = module.functions.iter().filter(|f| matches!(f.role, Role::Plain | Role::Fixture | Role::Test));
            let counts: Vec<_> = plain.map(|f| json!([f.line, f.assertions.len()])).collect();
            json!({"path": path, "functions": counts})
        }
    }
}

fn walk(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() {
            walk(&path, ending, files);
        } else if kind.is_file() && path.extension().is_some_and(|e| e == ending) {
            files.push(path);
        }
    }
}
