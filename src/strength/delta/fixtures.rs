//! Owns whether a check still loads the fixture bytes that it loaded on the base.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::finding::Rule;
use crate::strength::card::Card;
use crate::strength::cards::CardSet;
use crate::strength::delta::{Compared, Loss};

/// Every base file must be there with its bytes, under its path or a new one. More files are no loss.
pub(super) fn compare(base: &Card, patch: &Card) -> Compared {
    let mut compared = Compared::default();
    let mut fresh: BTreeSet<(&String, &String)> = patch.files.iter().filter(|(path, _)| !base.files.contains_key(*path)).collect();
    let mut gone = Vec::new();
    for (path, sha) in &base.files {
        match patch.files.get(path) {
            Some(now) if now == sha => {}
            Some(now) => compared.losses.push(drift(format!("fixture {path}: bytes {} -> {}", short(sha), short(now)), patch)),
            None => match fresh.iter().find(|(_, now)| *now == sha).copied() {
                Some(follower) => {
                    compared.notes.push(format!("fixture {path} moved to {}, same bytes", follower.0));
                    fresh.remove(&follower);
                }
                None => gone.push((path, sha)),
            },
        }
    }
    let others: Vec<String> = fresh.iter().map(|(path, sha)| format!("{path} ({})", short(sha))).collect();
    let instead = if others.is_empty() { "is not loaded any more".to_owned() } else { format!("gave way to {}", others.join(", ")) };
    compared.losses.extend(gone.into_iter().map(|(path, sha)| drift(format!("fixture {path} ({}) {instead}", short(sha)), patch)));
    compared
}

/// The base card with the demands it would make had its fixtures already moved where the patch's card has them, with the same bytes.
pub(super) fn following(mut base: Arc<Card>, patch: &CardSet) -> Arc<Card> {
    let Some(patch) = patch.get(&base.prop_id) else { return base };
    let moved = |(path, sha): (&String, &String)| {
        let fresh = |(home, now): &(&String, &String)| *now == sha && !base.files.contains_key(*home);
        let home = patch.files.iter().find(fresh).filter(|_| !patch.files.contains_key(path))?.0;
        Some((path.clone(), home.clone()))
    };
    let moves: Vec<(String, String)> = base.files.iter().filter_map(moved).collect();
    for (path, home) in &moves {
        let card = Arc::make_mut(&mut base);
        for text in
            card.claims.iter_mut().map(|claim| &mut claim.text).chain(card.calls.iter_mut().flat_map(|call| call.arguments.values_mut()))
        {
            *text = text.replace(path.as_str(), home);
        }
        let lines = card.claims.iter_mut().map(|claim| &mut claim.setup).chain(card.calls.iter_mut().map(|call| &mut call.setup));
        for line in lines.flatten().filter(|line| line.contains(path.as_str())) {
            *line = line.replace(path.as_str(), home).into();
        }
    }
    base
}

fn drift(says: String, patch: &Card) -> Loss {
    Loss { rule: Rule::FixtureDrift, says, line: Some(patch.line) }
}

fn short(sha: &str) -> &str {
    sha.get(..12).unwrap_or(sha)
}
