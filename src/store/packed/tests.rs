//! The packed map against a plain ordered map, on both engines, with reopening, while blocks split
//! and join; then readers beside a merge, and damage.

use proptest::prelude::*;

use super::*;
use crate::store::memory::Memory;
use crate::store::sled::Sled;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;
type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

fn all(packed: &Packed, from: &[u8], until: Option<&[u8]>) -> Vec<Entry> {
    packed.scan(from, until).collect::<Result<_, _>>().unwrap()
}

fn blocks(packed: &Packed) -> Vec<Entry> {
    packed.engine().scan(b"", None).collect::<Result<_, _>>().unwrap()
}

fn low_byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

fn numbered(range: std::ops::Range<u32>, length: usize) -> Changes {
    let value = |n: u32| (0..length).map(|at| low_byte(n as usize * 31 + at * at)).collect();
    range.map(|n| (format!("row/{n:08}").into_bytes(), Some(value(n)))).collect()
}

fn change(model: &mut Model, changes: &Changes) {
    for (key, value) in changes {
        match value {
            Some(value) => model.insert(key.clone(), value.clone()),
            None => model.remove(key),
        };
    }
}

fn same(packed: &Packed, model: &Model) {
    let expected: Vec<Entry> = model.clone().into_iter().collect();
    assert!(all(packed, b"", None) == expected);
    for at in 0..=20_u8 {
        let (probe, until) = (vec![at / 4, at % 4], vec![at / 3 + 1, at % 5]);
        assert!(packed.get(&probe).unwrap().as_ref() == model.get(&probe));
        let range: Vec<Entry> = model
            .iter()
            .filter(|(key, _)| **key >= probe && **key < until)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert!(all(packed, &probe, Some(&until)) == range);
    }
    for (key, value) in model.iter().step_by(7) {
        assert!(packed.get(key).unwrap().as_ref() == Some(value));
    }
    let mut before: Option<Vec<u8>> = None;
    for (key, stored) in blocks(packed) {
        let entries = Block::read(&key, &stored).unwrap().entries().unwrap();
        assert!(before.is_none_or(|before| before < key), "blocks overlap");
        assert!(entries.len() == 1 || body_bytes(&entries) <= BLOCK_BYTES_MAX);
        before = entries.last().map(|(key, _)| key.clone());
    }
}

fn changes() -> impl Strategy<Value = Changes> {
    let key = prop_oneof![
        proptest::collection::vec(0..8_u8, 0..5),
        (0..60_u8).prop_map(|n| vec![n / 8, n % 8, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ];
    let length = prop_oneof![10 => 0..60_usize, 4 => 300..900_usize, 1 => 3_000..20_000_usize];
    // Noise does not compress, one byte repeated does.
    let value = (any::<u8>(), length, any::<bool>()).prop_map(|(byte, length, noise)| {
        let step = if noise { 167 } else { 0 };
        (0..length).map(|at| low_byte(usize::from(byte) + at * at * step / 7)).collect::<Vec<_>>()
    });
    let value = prop_oneof![3 => value.prop_map(Some), 2 => Just(None)];
    proptest::collection::btree_map(key, value, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_packed_map_is_an_ordered_map_on_both_engines_and_after_reopening(
        rounds in proptest::collection::vec(changes(), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let memory = Packed::new(Arc::new(Memory::new()));
        let mut sled = Packed::new(Arc::new(Sled::open(dir.path(), 1 << 20).unwrap()));
        let mut model = Model::new();
        for (round, changes) in rounds.into_iter().enumerate() {
            change(&mut model, &changes);
            memory.merge(changes.clone()).unwrap();
            sled.merge(changes).unwrap();
            if round % 4 == 3 {
                sled.engine().sync().unwrap();
                drop(sled);
                sled = Packed::new(Arc::new(Sled::open(dir.path(), 1 << 20).unwrap()));
            }
            same(&memory, &model);
            same(&sled, &model);
            assert!(blocks(&memory) == blocks(&sled));
        }
    }
}

#[test]
fn many_small_entries_take_few_engine_keys() {
    let packed = Packed::new(Arc::new(Memory::new()));
    for from in (0..10_000).step_by(500) {
        packed.merge(numbered(from..from + 500, 40)).unwrap();
    }
    assert_eq!(all(&packed, b"", None).len(), 10_000);
    let blocks = blocks(&packed);
    assert!(blocks.len() < 180, "{} blocks", blocks.len());
}

#[test]
fn taking_nearly_everything_away_leaves_few_blocks_and_the_rest_none() {
    let packed = Packed::new(Arc::new(Memory::new()));
    packed.merge(numbered(0..5_000, 40)).unwrap();
    let before = blocks(&packed).len();
    let mut gone = numbered(0..5_000, 0);
    for value in gone.values_mut() {
        *value = None;
    }
    let mut most = gone.clone();
    most.retain(|key, _| !key.ends_with(b"00"));
    packed.merge(most).unwrap();
    assert_eq!(all(&packed, b"", None).len(), 50);
    assert!(blocks(&packed).len() < before / 10);
    packed.merge(gone).unwrap();
    assert_eq!(blocks(&packed), []);
}

#[test]
fn a_merge_that_changes_nothing_writes_nothing() {
    let packed = Packed::new(Arc::new(Memory::new()));
    packed.merge(numbered(0..500, 40)).unwrap();
    let mut changes = numbered(100..200, 40);
    changes.insert(b"absent".to_vec(), None);
    assert!(packed.batch(changes).unwrap().is_empty());
    assert!(packed.batch(BTreeMap::from([(b"a".to_vec(), None)])).unwrap().is_empty());
}

#[test]
fn one_change_among_many_touches_few_blocks() {
    let packed = Packed::new(Arc::new(Memory::new()));
    packed.merge(numbered(0..5_000, 40)).unwrap();
    let batch = packed.batch(numbered(2_500..2_501, 41)).unwrap();
    assert!(batch.len() <= 3, "{} writes", batch.len());
}

#[test]
fn entries_that_are_too_long_are_refused_and_nothing_is_merged() {
    let packed = Packed::new(Arc::new(Memory::new()));
    let long = vec![0; KEY_BYTES_MAX + 1];
    let changes = BTreeMap::from([(b"a".to_vec(), Some(vec![1])), (long, Some(vec![1]))]);
    assert!(matches!(packed.merge(changes), Err(PackedError::TooLong { part: "key", .. })));
    assert_eq!(all(&packed, b"", None), []);
}

#[test]
fn a_merge_between_two_steps_of_a_scan_neither_hides_nor_doubles_what_it_leaves_alone() {
    for at in 0..60 {
        let packed = Packed::new(Arc::new(Memory::new()));
        // Even rows stay; odd rows come and go and make blocks split, join and move.
        let mut stay = numbered(0..400, 100);
        stay.retain(|key, _| key.last().is_some_and(|digit| digit % 2 == 0));
        let mut move_in = numbered(0..400, 200);
        move_in.retain(|key, _| key.last().is_some_and(|digit| digit % 2 == 1));
        let mut move_out = move_in.clone();
        for value in move_out.values_mut() {
            *value = None;
        }
        let (first, second) = if at % 2 == 0 { (move_out, move_in) } else { (move_in, move_out) };
        packed.merge(stay.clone()).unwrap();
        packed.merge(second.clone()).unwrap();
        let mut scan = packed.scan(b"", None);
        let mut seen: Vec<Vec<u8>> = Vec::new();
        for _ in 0..at * 5 {
            seen.extend(scan.next().map(|entry| entry.unwrap().0));
        }
        packed.merge(first).unwrap();
        for _ in 0..50 {
            seen.extend(scan.next().map(|entry| entry.unwrap().0));
        }
        packed.merge(second).unwrap();
        seen.extend(scan.map(|entry| entry.unwrap().0));
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "doubled or out of order");
        seen.retain(|key| stay.contains_key(key));
        assert_eq!(seen.len(), stay.len());
    }
}

#[test]
fn readers_beside_a_merging_thread_see_what_stays_exactly_once() {
    let packed = Packed::new(Arc::new(Memory::new()));
    packed.merge(numbered(0..300, 100)).unwrap();
    let mut come = numbered(0..300, 150);
    come = come.into_iter().map(|(mut key, value)| (key.push(b'+'), (key, value)).1).collect();
    let mut go = come.clone();
    for value in go.values_mut() {
        *value = None;
    }
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..40 {
                packed.merge(come.clone()).unwrap();
                packed.merge(go.clone()).unwrap();
            }
        });
        while !writer.is_finished() {
            let keys = packed.scan(b"", None).map(|entry| entry.unwrap().0);
            let stay: Vec<_> = keys.filter(|key| !key.ends_with(b"+")).collect();
            assert_eq!(stay.len(), 300);
            assert!(stay.windows(2).all(|pair| pair[0] < pair[1]));
        }
    });
}

#[test]
fn a_damaged_block_is_named_and_its_neighbours_still_answer() {
    let engine = Arc::new(Memory::new());
    let packed = Packed::new(engine.clone());
    packed.merge(numbered(0..1_000, 40)).unwrap();
    let (key, stored) = blocks(&packed).swap_remove(3);
    let outside = numbered(0..1, 40).into_keys().next().unwrap();
    for place in 0..stored.len() {
        let mut hurt = stored.clone();
        hurt[place] ^= 0x10;
        engine.apply(vec![Write::Put(key.clone(), hurt)]).unwrap();
        let name = String::from_utf8(key.clone()).unwrap();
        match packed.get(&key) {
            Err(PackedError::Damaged { key, .. } | PackedError::Version { key, .. }) => {
                assert_eq!(key, name);
            }
            other => panic!("byte {place}: {other:?}"),
        }
        assert!(packed.get(&outside).unwrap().is_some());
        assert!(packed.merge(BTreeMap::from([(key.clone(), None)])).is_err());
        let mut scan = packed.scan(b"", None).skip_while(Result::is_ok);
        assert!(scan.next().is_some_and(|entry| entry.is_err()));
        assert!(scan.next().is_none());
    }
}
