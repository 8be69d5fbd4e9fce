//! The contract every engine is held to, run on each of them; then what only one of them must do.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::store::memory::Memory;
use crate::store::sled::{self, Sled};

fn on_every_engine(contract: impl Fn(&dyn Engine)) {
    contract(&Memory::new());
    let dir = tempfile::tempdir().unwrap();
    contract(&Sled::open(dir.path(), 1 << 20).unwrap());
}

fn put(key: &[u8], value: &[u8]) -> Write {
    Write::Put(key.to_vec(), value.to_vec())
}

fn all(engine: &dyn Engine, from: &[u8], until: Option<&[u8]>) -> Vec<Entry> {
    engine.scan(from, until).collect::<Result<_, _>>().unwrap()
}

#[test]
fn an_empty_engine_answers_nothing() {
    on_every_engine(|engine| {
        assert_eq!(engine.get(b"a").unwrap(), None);
        assert_eq!(engine.floor(b"a").unwrap(), None);
        assert_eq!(all(engine, b"", None), []);
        engine.apply(Vec::new()).unwrap();
        engine.sync().unwrap();
        engine.size_bytes().unwrap();
    });
}

#[test]
fn bounds_are_half_open_and_floor_is_at_or_before() {
    on_every_engine(|engine| {
        engine
            .apply(vec![put(b"", b"0"), put(b"b", b"1"), put(b"b\0", b"2"), put(b"d", b"3")])
            .unwrap();
        assert_eq!(all(engine, b"b", Some(b"d")).len(), 2);
        assert_eq!(all(engine, b"b\0", None).len(), 2);
        assert_eq!(all(engine, b"d", Some(b"b")), []);
        assert_eq!(all(engine, b"b", Some(b"b")), []);
        assert_eq!(all(engine, b"\xff\xff", None), []);
        assert_eq!(engine.floor(b"c").unwrap().unwrap().0, b"b\0");
        assert_eq!(engine.floor(b"b").unwrap().unwrap().0, b"b");
        assert_eq!(engine.floor(b"a").unwrap().unwrap().0, b"");
        assert_eq!(engine.floor(b"\xff").unwrap().unwrap().1, b"3");
        assert_eq!(engine.get(b"").unwrap().unwrap(), b"0");
    });
}

#[test]
fn the_later_write_of_a_batch_counts() {
    on_every_engine(|engine| {
        let remove = || Write::Remove(b"k".to_vec());
        engine.apply(vec![remove(), put(b"k", b"1"), put(b"k", b"2")]).unwrap();
        assert_eq!(engine.get(b"k").unwrap().unwrap(), b"2");
        engine.apply(vec![put(b"k", b"3"), remove()]).unwrap();
        assert_eq!(engine.get(b"k").unwrap(), None);
    });
}

#[test]
fn a_key_too_long_is_refused_and_nothing_of_its_batch_is_written() {
    on_every_engine(|engine| {
        let longest = vec![b'k'; KEY_BYTES_MAX];
        let longer = vec![b'k'; KEY_BYTES_MAX + 1];
        let refused = engine.apply(vec![put(b"a", b"1"), put(&longer, b"2")]);
        assert!(matches!(refused, Err(EngineError::KeyTooLong { bytes: 4_097, .. })));
        assert_eq!(all(engine, b"", None), []);
        engine.apply(vec![put(&longest, b"3")]).unwrap();
        assert_eq!(engine.get(&longest).unwrap().unwrap(), b"3");
    });
}

#[test]
fn values_around_the_limit_of_a_part_come_back_whole() {
    on_every_engine(|engine| {
        let part = sled::PART_BYTES;
        let lengths =
            [0, 1, part - 1, part, part + 1, sled::ENTRY_BYTES_MAX, 2 * part, 5 * part + 7];
        for round in 0..3_u8 {
            for (n, length) in lengths.iter().enumerate() {
                let length = lengths[(n + usize::from(round)) % lengths.len()].max(*length % 3);
                let value = vec![round.wrapping_add(u8::try_from(n).unwrap()); length];
                engine.apply(vec![put(&[u8::try_from(n).unwrap()], &value)]).unwrap();
                assert_eq!(engine.get(&[u8::try_from(n).unwrap()]).unwrap(), Some(value));
            }
            assert_eq!(all(engine, b"", None).len(), lengths.len());
        }
    });
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let key = || proptest::collection::vec(0..4_u8, 0..4);
    let length = prop_oneof![8 => 0..20_usize, 1 => 6_000..6_300_usize, 1 => 20_000..40_000_usize];
    let value = (any::<u8>(), length).prop_map(|(byte, length)| vec![byte; length]);
    let write = prop_oneof![
        3 => (key(), value).prop_map(|(key, value)| Write::Put(key, value)),
        1 => key().prop_map(Write::Remove),
    ];
    proptest::collection::vec(write, 0..30)
}

fn same(engine: &dyn Engine, model: &BTreeMap<Vec<u8>, Vec<u8>>) {
    let expected: Vec<Entry> = model.clone().into_iter().collect();
    assert!(all(engine, b"", None) == expected);
    for probe in [&b""[..], b"\0", b"\x01\x02", b"\x02", b"\x03\x03\x03\x03"] {
        assert!(engine.get(probe).unwrap().as_ref() == model.get(probe));
        let floor = model.range(..=probe.to_vec()).next_back();
        assert!(engine.floor(probe).unwrap() == floor.map(|(k, v)| (k.clone(), v.clone())));
        let until = [probe, &b"\x02"[..]].concat();
        let range = model.range(probe.to_vec()..until.clone());
        let range: Vec<Entry> = range.map(|(k, v)| (k.clone(), v.clone())).collect();
        assert!(all(engine, probe, Some(&until)) == range);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_engine_is_an_ordered_map_and_sled_still_is_after_reopening(
        batches in proptest::collection::vec(writes(), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::new();
        let mut sled = Sled::open(dir.path(), 1 << 20).unwrap();
        let mut model = BTreeMap::new();
        for (round, batch) in batches.into_iter().enumerate() {
            for write in &batch {
                match write {
                    Write::Put(key, value) => model.insert(key.clone(), value.clone()),
                    Write::Remove(key) => model.remove(key),
                };
            }
            memory.apply(batch.clone()).unwrap();
            sled.apply(batch).unwrap();
            if round % 3 == 2 {
                sled.sync().unwrap();
                drop(sled);
                sled = Sled::open(dir.path(), 1 << 20).unwrap();
            }
            same(&memory, &model);
            same(&sled, &model);
        }
        let blobs = std::fs::read_dir(dir.path().join("blobs")).unwrap().count();
        prop_assert_eq!(blobs, 0, "a page outgrew sled's limit");
    }
}

#[test]
fn full_leaves_of_the_longest_entries_make_no_file_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Sled::open(dir.path(), 1 << 20).unwrap();
    let key = |n: u32| [&b"key"[..], &n.to_be_bytes()].concat();
    for round in 0..3_u8 {
        for n in 0..200 {
            let n = n * 7_919 % 200;
            let value = vec![round; sled::ENTRY_BYTES_MAX - 9 + usize::from(round) * 9_000];
            engine.apply(vec![put(&key(n), &value)]).unwrap();
        }
        engine.apply((0..150).map(|n| Write::Remove(key(n))).collect()).unwrap();
    }
    engine.sync().unwrap();
    assert_eq!(std::fs::read_dir(dir.path().join("blobs")).unwrap().count(), 0);
}

#[test]
fn readers_see_each_batch_whole_in_one_call_while_parts_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(Sled::open(dir.path(), 1 << 20).unwrap());
    engine.apply(vec![put(b"k", &vec![0; 30_000])]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let engine = Arc::clone(&engine);
            scope.spawn(move || {
                for _ in 0..300 {
                    for value in [
                        engine.get(b"k").unwrap().unwrap(),
                        engine.floor(b"z").unwrap().unwrap().1,
                        engine.scan(b"", None).next().unwrap().unwrap().1,
                    ] {
                        assert!(value.iter().all(|byte| *byte == value[0]));
                        assert_eq!(value.len(), 30_000 + usize::from(value[0]));
                    }
                }
            });
        }
        for round in 1..=200_u8 {
            engine.apply(vec![put(b"k", &vec![round; 30_000 + usize::from(round)])]).unwrap();
        }
    });
}

#[test]
fn damaged_sled_files_give_an_error_or_an_answer_but_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Sled::open(dir.path(), 1 << 20).unwrap();
    let entries = |n: u8| (0..40).map(|k| put(&[k], &vec![n; 3_000])).collect();
    (0..4).for_each(|n| engine.apply(entries(n)).unwrap());
    engine.sync().unwrap();
    drop(engine);
    let whole = std::fs::read(dir.path().join("db")).unwrap();
    for round in 0..24 {
        let mut hurt = whole.clone();
        let place = (round * 104_729 + 13) % hurt.len();
        hurt[place..].iter_mut().take(64).for_each(|byte| *byte ^= 0x5a);
        if round % 4 == 3 {
            hurt.truncate(place);
        }
        std::fs::write(dir.path().join("db"), &hurt).unwrap();
        for snapshot in std::fs::read_dir(dir.path()).unwrap() {
            let path = snapshot.unwrap().path();
            if round % 2 == 1 && path.to_string_lossy().contains("snap") {
                std::fs::remove_file(path).unwrap();
            }
        }
        let Ok(engine) = Sled::open(dir.path(), 1 << 20) else { continue };
        let read = engine.scan(b"", None).filter_map(Result::ok).count();
        assert!(read <= 40);
    }
}
