//! Bytes cut off, flipped, swapped, taken away or put where they do not belong.

use super::*;
use crate::store::frame::{Draft, Seal};
use crate::store::segment::HEADER_BYTES as SEGMENT_HEADER;

// The frames of the only segment: where each begins, and where the last ends.
fn places(medium: &Faulty, last: u64) -> Vec<usize> {
    let length = |seq| index(Draft::new(seq, 0, &payload(seq)).unwrap().bytes());
    let mut at = SEGMENT_HEADER;
    let mut places = vec![at];
    for seq in 1..=last {
        at += length(seq);
        places.push(at);
    }
    assert_eq!(medium.content(&segment::name(1)).unwrap().len(), at);
    places
}

// The same log with the bytes of one segment changed.
fn changed(medium: &Faulty, first: u64, change: impl FnOnce(&mut Vec<u8>)) -> Faulty {
    let hurt = medium.crash(Crash::KeepAll);
    let mut bytes = medium.content(&segment::name(first)).unwrap();
    change(&mut bytes);
    hurt.put(&segment::name(first), &bytes);
    hurt
}

#[test]
fn cut_off_at_every_length_the_log_opens_with_the_whole_frames_and_goes_on() {
    for each in [true, false] {
        let medium = closed(6, 1 << 20, each);
        let places = places(&medium, 6);
        for length in 0..=places[6] {
            // What follows the cut is either gone or, where room was reserved, zeros.
            for reserved in [0, 300] {
                let cut = changed(&medium, 1, |bytes| {
                    bytes.truncate(length);
                    bytes.resize(length + reserved, 0);
                });
                let whole = places[1..].iter().filter(|end| **end <= length).count() as u64;
                if length < SEGMENT_HEADER {
                    let refused = open(&cut, 0).map(|_| ()).unwrap_err();
                    assert!(refused.is_damage(), "{refused}");
                    continue;
                }
                if whole < 6 {
                    let short = open(&cut, 6).map(|_| ()).unwrap_err();
                    assert!(matches!(short, LogError::Short { last, .. } if last >= whole));
                    let untouched = cut.content(&segment::name(1)).unwrap();
                    assert_eq!(untouched.len(), length + reserved, "cut before refusing");
                }
                let (mut log, opened) = open(&cut, 0).unwrap();
                // A frame that ends in zeros may be whole although its last bytes were cut.
                assert!(opened.last_seq >= whole);
                let end = places[index(opened.last_seq)];
                assert!(index(opened.cut_bytes) <= length.saturating_sub(end));
                assert_whole(&log, opened.last_seq);
                append(&mut log, opened.last_seq + 1..=9, true);
                log.close().unwrap();
                let (log, opened) = open(&cut, 9).unwrap();
                assert_eq!((opened.last_seq, opened.cut_bytes), (9, 0));
                assert_whole(&log, 9);
            }
        }
    }
}

#[test]
fn any_flipped_bit_gives_a_prefix_or_a_named_error_and_damage_before_the_end_is_never_cut() {
    for each in [true, false] {
        let medium = closed(6, 1 << 20, each);
        let places = places(&medium, 6);
        for place in 0..places[6] {
            for bit in [0, 3, 7] {
                let hurt = changed(&medium, 1, |bytes| bytes[place] ^= 1 << bit);
                let last = places.iter().filter(|start| **start <= place).count() as u64;
                let outcome = open(&hurt, 0);
                if place < SEGMENT_HEADER || (each && last < 6) {
                    let error = outcome.map(|_| ()).unwrap_err();
                    assert!(error.is_damage() || matches!(error, LogError::Version { .. }));
                    assert!(error.to_string().contains(&segment::name(1)), "{error}");
                    continue;
                }
                let (log, opened) = outcome.unwrap();
                assert_eq!(opened.last_seq, last - 1);
                // One less where the flip made the last byte a zero.
                let behind = places[6] - places[index(last) - 1];
                assert!((behind - 1..=behind).contains(&(index(opened.cut_bytes))));
                assert_whole(&log, last - 1);
                drop(log);
                assert!(open(&hurt, last).map(|_| ()).unwrap_err().is_damage());
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_an_earlier_segment_is_found_by_reading_and_by_verifying() {
    let medium = closed(12, 400, true);
    let names = medium.names();
    assert!(names.len() > 2);
    for name in &names[..names.len() - 1] {
        let first = segment::first_of(name).unwrap();
        for place in 0..medium.content(name).unwrap().len() {
            let hurt = changed(&medium, first, |bytes| bytes[place] ^= 0x20);
            let error = match open(&hurt, 12) {
                Err(error) => error,
                Ok((log, _)) => {
                    let (last, error) = read_all(&log);
                    assert!(last < 12);
                    assert!(log.verify().is_err());
                    error.unwrap()
                }
            };
            assert!(error.is_damage() || matches!(error, LogError::Version { .. }), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn an_earlier_segment_that_was_cut_or_grew_is_found_by_reading() {
    let medium = closed(12, 400, true);
    let length = medium.content(&segment::name(1)).unwrap().len();
    for length in SEGMENT_HEADER..length {
        let hurt = changed(&medium, 1, |bytes| bytes.truncate(length));
        let (log, _) = open(&hurt, 12).unwrap();
        assert!(read_all(&log).1.unwrap().is_damage());
    }
    let zeros = changed(&medium, 1, |bytes| bytes.resize(length + 700, 0));
    assert_whole(&open(&zeros, 12).unwrap().0, 12);
    let grown = changed(&medium, 1, |bytes| bytes.extend([0, 0, 0, 9]));
    assert!(read_all(&open(&grown, 12).unwrap().0).1.unwrap().is_damage());
}

#[test]
fn a_missing_segment_is_named_whichever_it_is() {
    let medium = closed(12, 400, true);
    let names = medium.names();
    for (place, name) in names.iter().enumerate() {
        let hurt = medium.crash(Crash::KeepAll);
        hurt.remove(name).unwrap();
        let error = open(&hurt, 12).map(|_| ()).unwrap_err();
        if place + 1 < names.len() {
            assert!(matches!(error, LogError::MissingSegment { .. }), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        } else {
            assert!(matches!(error, LogError::Short { must_reach: 12, .. }), "{error}");
        }
    }
}

#[test]
fn a_segment_of_another_store_another_format_or_another_place_is_named() {
    let medium = closed(12, 400, true);
    let second = medium.names().iter().filter_map(|name| segment::first_of(name)).nth(1).unwrap();
    let foreign = Log::open_on(Arc::new(medium.clone()), Uuid::from_u128(8), 0);
    assert!(matches!(foreign, Err(LogError::ForeignStore { expected, .. }) if expected != STORE));
    let newer = changed(&medium, second, |bytes| bytes[7] = 1);
    assert!(matches!(open(&newer, 0), Err(LogError::Version { version: 1, .. })));
    let header = SegmentHeader { store: STORE, first: second + 1, previous: 1 }.written();
    let renamed =
        changed(&medium, second, |bytes| bytes[..SEGMENT_HEADER].copy_from_slice(&header));
    assert!(matches!(open(&renamed, 0), Err(LogError::Damaged { offset: 0, .. })));
}

#[test]
fn a_whole_frame_with_the_wrong_number_is_a_gap() {
    let medium = closed(2, 1 << 20, true);
    let seal = Seal { store: STORE, first: 1 };
    for wrong in [1, 2, 4] {
        let hurt = changed(&medium, 1, |bytes| {
            let at = bytes.len() as u64;
            Draft::new(wrong, 0, b"x").unwrap().place(&seal, at, bytes);
        });
        let error = open(&hurt, 0).map(|_| ()).unwrap_err();
        assert!(matches!(error, LogError::Gap { expected: 3, found, .. } if found == wrong));
    }
}

#[test]
fn a_torn_frame_is_cut_unless_a_later_one_knew_it_to_be_synced() {
    let medium = Faulty::new();
    let mut log = create(&medium, 1 << 20);
    append(&mut log, 1..=3, true);
    // Two frames in one write, and a third in another, before the next sync.
    for seq in 4..=6 {
        log.append(seq, &payload(seq)).unwrap();
        if seq > 4 {
            log.flush().unwrap();
        }
    }
    let at = |seq: u64| {
        (1..seq).map(|s| index(Draft::new(s, 0, &payload(s)).unwrap().bytes())).sum::<usize>()
            + SEGMENT_HEADER
    };
    let torn = |medium: &Faulty| {
        changed(&medium.crash(Crash::KeepAll), 1, |bytes| bytes[at(4)..at(4) + 20].fill(0))
    };
    let before = torn(&medium);
    log.sync().unwrap();
    append(&mut log, 7..=7, true);
    let after = torn(&medium);

    let (mut log, opened) = open(&before, 3).unwrap();
    assert_eq!(opened.last_seq, 3);
    // Frames 5 and 6 stood whole behind the torn one; they must not come back.
    append(&mut log, 4..=4, true);
    drop(log);
    assert_eq!(open(&before, 4).unwrap().1, Opened { last_seq: 4, cut_bytes: 0 });

    let error = open(&after, 3).map(|_| ()).unwrap_err();
    assert!(matches!(error, LogError::Damaged { offset, .. } if index(offset) == at(4)));
}

#[test]
fn frames_inside_a_payload_are_not_taken_for_frames_of_the_log() {
    let other = closed(5, 1 << 20, true).content(&segment::name(1)).unwrap();
    let mut inside = other[SEGMENT_HEADER..].to_vec();
    inside.extend(noise(3, 4_000));
    let medium = Faulty::new();
    let mut log = create(&medium, 1 << 20);
    append(&mut log, 1..=2, true);
    log.append(3, &inside).unwrap();
    log.flush().unwrap();
    let length = medium.content(&segment::name(1)).unwrap().len();
    for lost in [1, 2_000, 3_999] {
        let torn = changed(&medium, 1, |bytes| {
            let end = index(log.size_bytes());
            bytes[end - lost..].fill(0);
            assert_eq!(bytes.len(), length);
        });
        let (log, opened) = open(&torn, 2).unwrap();
        assert_eq!(opened.last_seq, 2);
        assert_whole(&log, 2);
    }
}
