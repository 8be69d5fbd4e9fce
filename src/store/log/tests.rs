//! The log through everything a disk, a crash or a careless hand can do to it. What must hold each
//! time: the payloads that are read are those that were appended, in order and without a gap; what
//! was synced is there; and whatever else happens has a name.

use super::*;
use crate::store::faulty::{Crash, Failing, Faulty};

mod damage;
mod faults;

const STORE: Uuid = Uuid::from_u128(7);

// Short and long, some that compress and some that do not, one empty.
fn payload(seq: u64) -> Vec<u8> {
    match seq % 4 {
        0 => Vec::new(),
        1 => format!("payload {seq}").into_bytes(),
        2 => format!("payload {seq} again and again; ").repeat(20).into_bytes(),
        _ => noise(seq, 150),
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| byte()).collect()
}

fn create(medium: &Faulty, segment_bytes: u64) -> Log {
    let log = Log::create_on(Arc::new(medium.clone()), STORE).unwrap();
    log.with_segment_bytes(segment_bytes)
}

fn open(medium: &Faulty, must_reach: u64) -> Result<(Log, Opened), LogError> {
    Log::open_on(Arc::new(medium.clone()), STORE, must_reach)
}

// Appends these frames and syncs after each, or once at the end.
fn append(log: &mut Log, seqs: std::ops::RangeInclusive<u64>, each: bool) {
    for seq in seqs {
        log.append(seq, &payload(seq)).unwrap();
        if each {
            log.sync().unwrap();
        }
    }
    log.sync().unwrap();
}

// A log of these frames that was closed, on a disk of its own.
fn closed(last: u64, segment_bytes: u64, each: bool) -> Faulty {
    let medium = Faulty::new();
    let mut log = create(&medium, segment_bytes);
    append(&mut log, 1..=last, each);
    log.close().unwrap();
    medium
}

// Reads everything and compares it; the last sequence number read, and how reading ended.
fn read_all(log: &Log) -> (u64, Option<LogError>) {
    let mut last = 0;
    for frame in log.read_from(1).unwrap() {
        match frame {
            Ok((seq, read)) => {
                assert_eq!(seq, last + 1);
                assert!(read == payload(seq), "frame {seq} reads as something else");
                last = seq;
            }
            Err(error) => return (last, Some(error)),
        }
    }
    (last, None)
}

fn assert_whole(log: &Log, last: u64) {
    let (read, error) = read_all(log);
    assert_eq!(read, last);
    assert!(error.is_none(), "{error:?}");
}

#[test]
fn what_was_appended_reads_back_from_any_frame_on_before_and_after_reopening() {
    let medium = Faulty::new();
    let mut log = create(&medium, 1_000);
    assert_eq!((log.last_seq(), log.read_from(0).unwrap().count()), (0, 0));
    append(&mut log, 1..=40, false);
    let check = |log: &Log| {
        assert_eq!(log.last_seq(), 40);
        assert_whole(log, 40);
        for from in 0..=42 {
            let seqs: Vec<u64> =
                log.read_from(from).unwrap().map(|frame| frame.unwrap().0).collect();
            assert_eq!(seqs, (from.max(1)..=40).collect::<Vec<_>>());
        }
        assert_eq!(log.verify().unwrap().frames, 40);
    };
    check(&log);
    let bytes = log.size_bytes();
    log.close().unwrap();
    let (log, opened) = open(&medium, 40).unwrap();
    assert_eq!(opened, Opened { last_seq: 40, cut_bytes: 0 });
    check(&log);
    assert_eq!(log.size_bytes(), bytes);
    let names = medium.names();
    assert!(names.len() > 3, "{names:?}");
    let on_disk: usize = names.iter().map(|name| medium.content(name).unwrap().len()).sum();
    assert_eq!(on_disk as u64, bytes);
}

#[test]
fn segments_are_named_by_their_first_frame_and_a_frame_too_long_for_one_gets_its_own() {
    let medium = Faulty::new();
    let mut log = create(&medium, 1_000);
    let large = noise(1, 5_000);
    for (seq, payload) in [(1, &b"a"[..]), (2, &large), (3, b"b"), (4, &large), (5, &large)] {
        log.append(seq, payload).unwrap();
    }
    log.sync().unwrap();
    let names: Vec<String> = [1, 2, 3, 4, 5].map(segment::name).to_vec();
    assert_eq!(medium.names(), names);
    assert_eq!(log.verify().unwrap().payload_bytes, 15_002);
}

#[test]
fn a_frame_out_of_order_is_refused_and_the_log_goes_on() {
    let mut log = create(&Faulty::new(), 1_000);
    for seq in [0, 2, u64::MAX] {
        let refused = log.append(seq, b"x");
        assert!(
            matches!(refused, Err(LogError::OutOfOrder { expected: 1, given }) if given == seq)
        );
    }
    append(&mut log, 1..=3, true);
    assert_whole(&log, 3);
}

#[test]
fn frames_are_read_only_once_they_were_flushed_and_a_reader_ends_where_it_began() {
    let mut log = create(&Faulty::new(), 100_000);
    log.append(1, &payload(1)).unwrap();
    assert_eq!(log.read_from(1).unwrap().count(), 0);
    log.flush().unwrap();
    let reader = log.read_from(1).unwrap();
    append(&mut log, 2..=9, false);
    assert_eq!(reader.count(), 1);
    assert_eq!(log.read_from(1).unwrap().count(), 9);
}

#[test]
fn a_sync_handle_reports_what_was_flushed_across_a_new_segment() {
    let medium = Faulty::new();
    let mut log = create(&medium, 1_000);
    let handle = log.sync_handle();
    assert_eq!(handle.sync().unwrap(), 0);
    let mut seq = 0;
    while medium.names().len() < 4 {
        seq += 1;
        log.append(seq, &payload(seq)).unwrap();
        log.flush().unwrap();
        assert!(handle.synced() < seq);
        if seq % 3 == 0 {
            assert_eq!(handle.sync().unwrap(), seq);
            let after = medium.crash(Crash::LoseUnsynced);
            assert_eq!(open(&after, seq).unwrap().1.last_seq, seq);
        }
    }
}

#[test]
fn an_existing_log_is_not_made_anew_and_an_empty_directory_is_not_opened() {
    let medium = closed(3, 1_000, true);
    let again = Log::create_on(Arc::new(medium), STORE);
    assert!(matches!(again, Err(LogError::Exists { .. })));
    assert!(matches!(open(&Faulty::new(), 0), Err(LogError::NoSegments { .. })));
}

#[test]
fn on_a_real_disk_room_is_reserved_given_back_and_reading_begins_near_the_frame() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut log = Log::create(&path, STORE).unwrap();
    assert!(matches!(Log::create(&path, STORE), Err(LogError::Exists { .. })));
    let file = path.join(segment::name(1));
    for seq in 1..=400 {
        log.append(seq, &noise(seq, 10_000)).unwrap();
    }
    log.flush().unwrap();
    if cfg!(target_os = "linux") {
        let length = std::fs::metadata(&file).unwrap().len();
        assert!(length > log.size_bytes(), "no room was reserved");
    }
    let check = |log: &Log| {
        assert!(log.last.marks.len() >= 3);
        for from in [1, 2, 104, 105, 106, 210, 399, 400, 401] {
            let frames = log.read_from(from).unwrap().map(Result::unwrap);
            let frames = frames.inspect(|(seq, read)| assert!(*read == noise(*seq, 10_000)));
            assert_eq!(frames.count() as u64, 401 - from);
        }
    };
    check(&log);
    let bytes = log.size_bytes();
    drop(log);
    let (log, opened) = Log::open(&path, STORE, 0).unwrap();
    assert_eq!(opened, Opened { last_seq: 400, cut_bytes: 0 });
    check(&log);
    log.close().unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().len(), bytes);
    let (log, _) = Log::open(&path, STORE, 400).unwrap();
    assert_eq!(log.verify().unwrap().frames, 400);
}
