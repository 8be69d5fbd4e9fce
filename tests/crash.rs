//! Kills are survived (R47): a child process writes numbered transactions (alone, in batches, by
//! import) and checkpoints, and prints each number once the write has returned; it is killed with
//! SIGKILL at any moment, also while it makes or opens the store. Whatever it left must open,
//! hold everything acknowledged and a prefix of the rest, read the same as a store that was given
//! that prefix in peace, be sound, and take the next write.
//!
//! `ASOF_LONG=1` kills 500 times instead of 20.
#![expect(clippy::unwrap_used, reason = "a test may stop")]

#[path = "common/numbered.rs"]
mod numbered;

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use asof::db::Store;
use asof::store::open::EngineChoice;
use numbered::{journal, options, write};

const DIR: &str = "ASOF_CRASH_DIR";
const SEED: &str = "ASOF_CRASH_SEED";

/// Numbers that look random, the same for the same seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }
}

fn acknowledge(n: u64) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\nack {n}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// What the child does; without its variable it does nothing.
#[test]
fn the_child_writes_until_it_is_killed() {
    let (Ok(dir), Ok(seed)) = (std::env::var(DIR), std::env::var(SEED)) else { return };
    let mut dice = Dice(seed.parse().unwrap());
    let store = Store::open(dir, options(EngineChoice::Sled)).unwrap();
    let mut n = store.stats().unwrap().transactions;
    loop {
        match dice.below(20) {
            0 => store.checkpoint().unwrap(),
            1..4 => {
                let until = n + 1 + dice.below(300);
                let report = store.import_text(&journal(n + 1, until)).unwrap();
                assert_eq!((report.refused, report.last_seq), (vec![], Some(until)));
                n = until;
                acknowledge(n);
            }
            _ => {
                n += 1;
                write(&store, n);
                acknowledge(n);
            }
        }
    }
}

/// Lets a child write and kills it; the last number it acknowledged.
fn killed(dir: &Path, seed: u64, dice: &mut Dice) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_child_writes_until_it_is_killed", "--nocapture"])
        .env(DIR, dir)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (tell, told) = mpsc::channel();
    let listener = std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if let Some(n) = line.strip_prefix("ack ") {
                tell.send(n.parse().unwrap()).unwrap();
            }
        }
    });
    let mut acknowledged = 0;
    // One in four dies while it makes or opens the store.
    if dice.below(4) > 0 {
        for _ in 0..=dice.below(40) {
            acknowledged = told.recv_timeout(Duration::from_secs(60)).unwrap();
        }
        std::thread::sleep(Duration::from_micros(dice.below(20_000)));
    } else {
        std::thread::sleep(Duration::from_micros(dice.below(60_000)));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    listener.join().unwrap();
    told.try_iter().fold(acknowledged, u64::max)
}

#[test]
fn a_killed_writer_leaves_a_prefix_with_everything_acknowledged() {
    let rounds = if std::env::var("ASOF_LONG").is_ok() { 500 } else { 20 };
    let mut dice = Dice(47);
    let (mut cut, mut rebuilt, mut kept) = (0, 0, 0);
    let mut round = 0;
    while round < rounds {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("store");
        let model = Store::open(dir.path().join("model"), options(EngineChoice::Memory)).unwrap();
        let mut has = 0;
        for _ in 0..5 {
            let acknowledged = killed(&at, round, &mut dice);
            let store = Store::open(&at, options(EngineChoice::Sled)).unwrap();
            let holds = store.stats().unwrap().transactions;
            assert!(holds >= acknowledged.max(has), "round {round}: {holds} of {acknowledged}");
            model.import_text(&journal(has + 1, holds)).unwrap();
            assert_eq!(store.digest().unwrap(), model.digest().unwrap(), "round {round}");
            let report = store.check().unwrap();
            assert_eq!(report.faults, Vec::<String>::new(), "round {round}");
            cut += u64::from(report.cut_bytes > 0);
            rebuilt += u64::from(report.rebuilt.is_some());
            has = holds + 1;
            write(&store, has);
            write(&model, has);
            kept += 1;
            round += 1;
        }
    }
    println!("{kept} kills: {cut} torn tails cut, {rebuilt} derived states made anew");
}
