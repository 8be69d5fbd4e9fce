//! Random larger histories: several slots, three levels of scopes, sources, artifacts, derived
//! facts, transactions of several lines and refused ones, written to the engine and to the slow
//! oracle, every verdict and a sample of answers compared, `explain` included.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod common;

use common::compare::{compare, told};
use common::oracle::random::random_world;
use common::oracle::worlds::questions;
use proptest::prelude::*;
use rayon::prelude::*;

fn faults(seed: u64, events: usize) -> Option<String> {
    let mut world = random_world(seed, events);
    world.retain(|line| line["op"] != "erase");
    let faults = compare(&world, &questions(&world), true);
    (!faults.is_empty()).then(|| format!("seed {seed}\n{}\n{}", told(&world), faults.join("\n")))
}

#[test]
fn random_worlds_are_answered_as_the_oracle_answers_them() {
    let count = if std::env::var_os("ASOF_LONG").is_some() { 5_000 } else { 1_500 };
    let faults: Vec<String> =
        (0..count).into_par_iter().filter_map(|seed| faults(seed, 40)).collect();
    println!("{count} random worlds compared, {} differ", faults.len());
    for fault in faults.iter().filter(|_| std::env::var_os("ASOF_BRIEF").is_some()) {
        println!("BRIEF {}", fault.lines().last().unwrap_or_default());
    }
    let shown: Vec<&String> = faults.iter().take(3).collect();
    assert!(
        faults.is_empty(),
        "{} worlds differ:\n{}",
        faults.len(),
        shown.iter().map(|s| s.as_str()).collect::<Vec<_>>().join("\n\n")
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_201),
        ..ProptestConfig::default()
    })]
    #[test]
    fn any_seed_of_a_world_is_answered_as_the_oracle_answers_it(seed in any::<u64>(), events in 1usize..60) {
        prop_assert_eq!(faults(seed, events), None);
    }
}
