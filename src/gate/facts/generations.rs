//! Owns a bounded map that forgets what was not asked for longest: two generations, the older one dropped whole.

use std::collections::HashMap;
use std::hash::Hash;

/// A map of bounded weight. What is found in the old generation moves to the young one, so what is in use stays.
pub struct Generations<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    weight: usize,
    cap: usize,
}

impl<K: Eq + Hash + Clone, V> Generations<K, V> {
    /// An empty map of at most `cap` weight, shared by the two generations.
    pub fn new(cap: usize) -> Self {
        Generations { young: HashMap::new(), old: HashMap::new(), weight: 0, cap: cap / 2 }
    }

    /// The value of a key, kept young by being asked for.
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        if !self.young.contains_key(key) {
            let (value, weight) = self.old.remove(key)?;
            self.put(key.clone(), value, weight);
        }
        self.young.get_mut(key).map(|(value, _)| value)
    }

    /// Whether the key is there.
    pub fn has(&self, key: &K) -> bool {
        self.young.contains_key(key) || self.old.contains_key(key)
    }

    /// Adds or replaces.
    pub fn put(&mut self, key: K, value: V, weight: usize) {
        if self.weight + weight > self.cap {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.old.remove(&key);
        self.weight += weight;
        if let Some((_, before)) = self.young.insert(key, (value, weight)) {
            self.weight -= before;
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.young = HashMap::new();
        self.old = HashMap::new();
        self.weight = 0;
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Generations;

    #[test]
    fn what_is_asked_for_outlives_what_is_not() {
        let mut map = Generations::new(200);
        map.put("kept", 0, 10);
        map.put("left", 0, 10);
        for round in 0..100 {
            map.put(if round % 2 == 0 { "even" } else { "odd" }, round, 60);
            assert!(map.get(&"kept").is_some(), "round {round}");
        }
        assert!(!map.has(&"left"));
    }

    #[test]
    fn weight_stays_under_the_cap() {
        let mut map = Generations::new(1000);
        for key in 0..10_000 {
            map.put(key, (), 10);
            assert!(map.len() <= 100);
        }
        map.put(1, (), 100_000);
        assert!(map.has(&1), "one entry above the cap is kept until the next");
    }
}
