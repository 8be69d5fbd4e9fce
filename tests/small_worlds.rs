//! All small worlds: every history of up to three events over a four-tick clock and a small
//! alphabet (`common/oracle/worlds.rs` says which), each written to the engine and to the slow
//! oracle, every verdict and every answer at every (v, k) compared.
//!
//! There are two hundred thousand such worlds. The ordinary run takes all of one and two events and
//! every 12th of three; `ASOF_LONG=1` takes all.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod common;

use common::compare::{compare, told};
use common::oracle::worlds::{questions, small_worlds};
use rayon::prelude::*;

#[test]
fn every_small_world_is_answered_as_the_oracle_answers_it() {
    let long = std::env::var_os("ASOF_LONG").is_some();
    let stride = if long { 1 } else { 12 };
    let worlds: Vec<_> = small_worlds(3)
        .filter(|world| world.iter().all(|line| line["op"] != "erase"))
        .enumerate()
        .filter(|(number, world)| world.len() < 6 || number % stride == 0)
        .map(|(_, world)| world)
        .collect();
    let faults: Vec<String> = worlds
        .par_iter()
        .flat_map_iter(|world| {
            let faults = compare(world, &questions(world), false);
            (!faults.is_empty()).then(|| format!("{}\n{}", told(world), faults.join("\n")))
        })
        .collect();
    println!("{} small worlds compared, {} differ", worlds.len(), faults.len());
    for fault in faults.iter().filter(|_| std::env::var_os("ASOF_BRIEF").is_some()) {
        println!("BRIEF {}", fault.lines().last().unwrap_or_default());
    }
    let shown: Vec<&String> = faults.iter().take(12).collect();
    assert!(faults.is_empty(), "{} worlds differ:\n{shown:#?}", faults.len());
}
