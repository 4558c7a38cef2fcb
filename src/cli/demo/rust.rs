//! Owns the demo's Rust scene: tests that stand in the file of what they test.

use super::Act::{self, Edit, Run, Say, Write};

const MANIFEST: &str = "[package]\nname = \"price\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LIB: &str = "/// The nearest value of low..=high.
pub fn clamp(value: i64, low: i64, high: i64) -> i64 {
    if value < low { low } else { value.min(high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_bounds() {
        assert_eq!(clamp(0, 0, 10), 0);
        assert_eq!(clamp(10, 0, 10), 10);
    }
}
";

/// The acts.
pub(super) const STEPS: &[Act] = &[
    Write("Cargo.toml", MANIFEST),
    Write("src/lib.rs", LIB),
    Run { line: &["git", "add", "."], exit: 0, says: &[] },
    Run { line: &["git", "commit", "--quiet", "-m", "clamp prices"], exit: 0, says: &[] },
    Run { line: &["seedgate", "init"], exit: 0, says: &["seedgate: installed in"] },
    Run { line: &["git", "add", "."], exit: 0, says: &[] },
    Run { line: &["git", "commit", "--quiet", "-m", "policy of seedgate"], exit: 0, says: &[] },
    Say("One file has production and tests. A change of either part passes."),
    Edit { folder: "src", old: "if value < low { low } else { value.min(high) }", new: "value.max(low).min(high)" },
    Run { line: &["git", "commit", "-am", "clamp without a branch"], exit: 0, says: &["1 file changed"] },
    Say("A change of both is refused, with the lines of each."),
    Edit { folder: "src", old: "value.max(low).min(high)", new: "value.clamp(low, high)" },
    Edit {
        folder: "src",
        old: "        assert_eq!(clamp(10, 0, 10), 10);\n",
        new: "        assert_eq!(clamp(10, 0, 10), 10);\n        assert_eq!(clamp(12, 0, 10), 10);\n",
    },
    Run { line: &["git", "add", "."], exit: 0, says: &[] },
    Run {
        line: &["git", "commit", "-m", "clamp by the library"],
        exit: 1,
        says: &["split_required", "src/lib.rs (lines 3)", "src/lib.rs (test, lines 14)"],
    },
    Say("The split takes the file apart: the first commit has the new production with the old tests."),
    Run { line: &["seedgate", "split", "-m", "clamp by the library", "-m", "test clamp above"], exit: 0, says: &["two commits made"] },
    Run { line: &["seedgate", "partition", "--rev", "HEAD~1"], exit: 0, says: &["production\tsrc/lib.rs"] },
    Run { line: &["seedgate", "partition", "--rev", "HEAD"], exit: 0, says: &["test\tsrc/lib.rs\tlines 14"] },
    Say("A test that gets weaker is refused wherever it stands."),
    Edit { folder: "src", old: "        assert_eq!(clamp(0, 0, 10), 0);\n", new: "" },
    Run { line: &["git", "commit", "-am", "tidy tests"], exit: 1, says: &["assertion_removed", "keeps_the_bounds"] },
];
