//! Calls that fail, disks that are full, and power that goes at any point.

use super::*;
use crate::store::frame::HEADER_BYTES as FRAME_HEADER;

// What a run promised before it failed.
#[derive(Debug, Default, Clone, Copy)]
struct Promised {
    created: bool,
    appended: u64,
    synced: u64,
}

// Works on a log until something fails: single commits, groups, unsynced ones, new segments.
fn work(medium: &Faulty, promised: &mut Promised) -> Result<(), LogError> {
    let log = Log::create_on(Arc::new(medium.clone()), STORE)?;
    let mut log = log.with_segment_bytes(700);
    promised.created = true;
    for seq in 1..=24 {
        log.append(seq, &payload(seq))?;
        promised.appended = seq;
        if seq % 3 == 0 {
            log.flush()?;
        }
        if seq % 5 == 0 {
            log.sync()?;
            promised.synced = seq;
        }
    }
    log.close()?;
    promised.synced = 24;
    Ok(())
}

fn crashes() -> Vec<Crash> {
    let torn = [0, 1, FRAME_HEADER - 1, FRAME_HEADER, FRAME_HEADER + 1, 100].map(Crash::TearLast);
    let scattered = (0..6).map(Crash::Scatter);
    [Crash::KeepAll, Crash::LoseUnsynced].into_iter().chain(torn).chain(scattered).collect()
}

// Whatever the crash, what was promised is there, and the log goes on from it.
fn assert_kept(medium: &Faulty, promised: Promised) {
    for crash in crashes() {
        let after = medium.crash(crash);
        let (mut log, opened) = match open(&after, promised.synced) {
            Ok(opened) => opened,
            Err(LogError::NoSegments { .. }) if !promised.created => continue,
            Err(error) => panic!("{crash:?} after {promised:?}: {error}"),
        };
        assert!(opened.last_seq >= promised.synced, "{crash:?} after {promised:?}: {opened:?}");
        // The frame whose append failed may have been handed over by then.
        assert!(opened.last_seq <= promised.appended + 1);
        assert_whole(&log, opened.last_seq);
        let last = opened.last_seq + 3;
        append(&mut log, opened.last_seq + 1..=last, false);
        drop(log);
        let again = after.crash(Crash::LoseUnsynced);
        let (log, opened) = open(&again, last).unwrap();
        assert_eq!((opened.last_seq, opened.cut_bytes), (last, 0));
        assert_whole(&log, last);
    }
}

// Only the process died: the next one sees what was flushed, and must not lose what it built upon.
fn assert_built_upon(medium: &Faulty, promised: Promised) {
    let (mut log, opened) = match open(medium, promised.synced) {
        Ok(opened) => opened,
        Err(LogError::NoSegments { .. }) if !promised.created => return,
        Err(error) => panic!("{promised:?}: {error}"),
    };
    assert!(opened.last_seq >= promised.synced);
    let after = medium.crash(Crash::LoseUnsynced);
    assert_eq!(open(&after, opened.last_seq).unwrap().1.last_seq, opened.last_seq);
    let last = opened.last_seq + 3;
    append(&mut log, opened.last_seq + 1..=last, false);
    let after = medium.crash(Crash::LoseUnsynced);
    assert_whole(&open(&after, last).unwrap().0, last);
}

#[test]
fn whichever_call_fails_what_was_synced_is_there_after_any_crash() {
    for kind in [Failing::Once, Failing::From] {
        for reserves in [true, false] {
            let mut failed = 0;
            for call in 1.. {
                let medium = Faulty::new();
                medium.reserves(reserves);
                medium.fail(kind(call));
                let mut promised = Promised::default();
                let outcome = work(&medium, &mut promised);
                let all_made = medium.calls() < call;
                medium.fail(Failing::Never);
                assert_kept(&medium, promised);
                assert_built_upon(&medium, promised);
                if all_made {
                    outcome.unwrap();
                    break;
                }
                failed += u32::from(outcome.is_err());
            }
            assert!(failed > 20, "only {failed} failures were felt");
        }
    }
}

#[test]
fn after_a_failed_write_or_sync_nothing_is_appended_any_more() {
    for before in 0..2 {
        let medium = Faulty::new();
        let mut log = create(&medium, 1 << 20);
        append(&mut log, 1..=3, true);
        log.append(4, &payload(4)).unwrap();
        medium.fail(Failing::Once(medium.calls() + 1 + before));
        assert!(matches!(log.sync(), Err(LogError::Io { .. })));
        for outcome in
            [log.append(5, b"x"), log.flush(), log.sync(), log.sync_handle().sync().map(drop)]
        {
            let error = outcome.unwrap_err();
            assert!(matches!(error, LogError::Poisoned { .. }), "{error}");
            assert!(error.to_string().contains("failed by the test"), "{error}");
        }
        assert!(matches!(log.close(), Err(LogError::Poisoned { .. })));
        let (log, opened) = open(&medium.crash(Crash::LoseUnsynced), 3).unwrap();
        assert_eq!(opened.last_seq, 3);
        assert_whole(&log, 3);
    }
}

#[test]
fn whichever_call_of_opening_fails_the_next_opening_finds_all() {
    let torn = |medium: &Faulty| {
        let name = medium.names().pop().unwrap();
        let mut bytes = medium.content(&name).unwrap();
        bytes.extend(noise(1, 40));
        medium.put(&name, &bytes);
        medium.put(&segment::unready_name(25), b"never finished");
    };
    for call in 1.. {
        let medium = closed(24, 700, true);
        torn(&medium);
        medium.fail(Failing::Once(medium.calls() + call));
        let calls = medium.calls();
        let outcome = open(&medium, 24);
        let all_made = medium.calls() < calls + call;
        medium.fail(Failing::Never);
        if all_made {
            assert_eq!(outcome.unwrap().1.cut_bytes, 40);
            break;
        }
        assert!(matches!(outcome, Err(LogError::Io { .. })), "call {call}");
        let (log, opened) = open(&medium, 24).unwrap();
        assert_eq!(opened.last_seq, 24);
        assert_whole(&log, 24);
        assert!(medium.names().iter().all(|name| segment::first_of(name).is_some()));
    }
}

#[test]
fn a_full_disk_refuses_a_frame_whole_and_the_log_goes_on_when_there_is_room() {
    for room in (1_000..2_600).step_by(23) {
        let medium = Faulty::new();
        let log = create(&medium, 900);
        // Room reserved so far does not count as free.
        log.close().unwrap();
        let (log, _) = open(&medium, 0).unwrap();
        let mut log = log.with_segment_bytes(900);
        medium.room(Some(room));
        let mut refused = 0;
        let mut seq = 0;
        while seq < 40 {
            match log.append(seq + 1, &payload(seq + 1)) {
                Ok(()) => seq += 1,
                Err(LogError::NoSpace { .. }) => {
                    refused += 1;
                    assert_eq!(log.last_seq(), seq);
                    log.sync().unwrap();
                    assert_whole(&log, seq);
                    let (reopened, opened) = open(&medium.crash(Crash::LoseUnsynced), seq).unwrap();
                    assert_eq!(opened.last_seq, seq);
                    assert_whole(&reopened, seq);
                    medium.room(None);
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(refused, 1);
        log.close().unwrap();
        assert_whole(&open(&medium, 40).unwrap().0, 40);
    }
}

#[test]
fn a_full_disk_where_room_cannot_be_reserved_stops_the_log_and_loses_nothing_synced() {
    for room in (200..2_500).step_by(29) {
        let medium = Faulty::new();
        medium.reserves(false);
        let mut log = create(&medium, 900);
        medium.room(Some(room));
        let mut synced = 0;
        let error = loop {
            let seq = synced + 1;
            let outcome = log.append(seq, &payload(seq)).and_then(|()| log.sync());
            match outcome {
                Ok(()) => synced = seq,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, LogError::NoSpace { .. }), "{error}");
        drop(log);
        medium.room(None);
        for crash in crashes() {
            let (mut log, opened) = open(&medium.crash(crash), synced).unwrap();
            assert_eq!(opened.last_seq, synced);
            append(&mut log, synced + 1..=synced + 4, true);
            assert_whole(&log, synced + 4);
        }
    }
}
