//! R43: drawings are deterministic, and Graphviz takes them whatever stands in the labels.
//!
//! Each world of `graphs/` is replayed and one of its slots drawn by the `asof` command; the text is
//! compared byte for byte with the golden file beside the world. `ASOF_BLESS=1` writes the golden
//! files anew. Where a `dot` program is on the PATH, it has to make an SVG of each drawing and of a
//! world with hostile labels, without a warning, and the SVG has to be well-formed.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;

/// World and what is drawn of it, at a fixed point.
const DRAWINGS: [(&str, &[&str]); 5] = [
    (
        "cairo",
        &[
            "place:cairo",
            "utc_offset_hours",
            "--scope",
            "world/egypt",
            "--at",
            "2016-07-10T00:00:00Z",
        ],
    ),
    (
        "debian11",
        &[
            "release:debian-11",
            "support_until",
            "--scope",
            "world/debian",
            "--at",
            "2024-08-01T00:00:00Z",
        ],
    ),
    (
        "exception",
        &["user:demo", "meetings", "--scope", "acme/demo", "--at", "2025-03-12T12:00:00Z"],
    ),
    (
        "projects",
        &[
            "flow:refund",
            "retry",
            "--scope",
            "acme/shop",
            "--inherit",
            "--at",
            "2025-06-20T00:00:00Z",
        ],
    ),
    (
        "timeout",
        &[
            "service:payments",
            "timeout_seconds",
            "--scope",
            "acme/billing/prod",
            "--at",
            "2025-10-19T00:00:00Z",
        ],
    ),
];

/// The other drawings, all of the world of two projects: file, and the command that draws it.
const OTHERS: [(&str, &[&str]); 4] = [
    ("projects.lineage.dot", &["dot", "lineage", "shop-guide", "--at", "2025-06-20T00:00:00Z"]),
    ("projects.entity.dot", &["dot", "entity", "flow:refund", "--at", "2025-06-20T00:00:00Z"]),
    (
        "projects.timeline.dot",
        &[
            "dot",
            "timeline",
            "flow:refund",
            "retry",
            "--scope",
            "acme/billing",
            "--at",
            "2025-06-20T00:00:00Z",
        ],
    ),
    (
        "projects.plot.svg",
        &[
            "plot",
            "flow:refund",
            "retry",
            "--scope",
            "acme/billing",
            "--at",
            "2025-06-20T00:00:00Z",
        ],
    ),
];

fn graphs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs")
}

fn asof(store: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_asof"))
        .arg("--store")
        .arg(store)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A store in a directory of its own, with a journal replayed into it.
fn replayed(journal: &Path) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    asof(&store, &["import", "--replay", "--strict", journal.to_str().unwrap()]);
    (dir, store)
}

fn drawing(store: &Path, slot: &[&str]) -> String {
    let arguments: Vec<&str> = ["dot", "chain"].into_iter().chain(slot.iter().copied()).collect();
    asof(store, &arguments)
}

/// What Graphviz makes of a drawing; `None` where there is no Graphviz.
fn graphviz(drawing: &str) -> Option<Output> {
    let mut child = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().unwrap();
    let text = drawing.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Some(output)
}

fn assert_drawn(name: &str, drawing: &str) -> Option<String> {
    let Some(output) = graphviz(drawing) else {
        println!("{name}: no `dot` on the PATH, not tried");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // A machine without fonts says so; that is not about the drawing.
    let about_it: Vec<&str> = said.lines().filter(|line| !line.starts_with("Fontconfig")).collect();
    assert!(output.status.success() && about_it.is_empty(), "{name}: {about_it:?}\n{drawing}");
    let svg = String::from_utf8(output.stdout).unwrap();
    assert_well_formed(name, &svg);
    Some(svg)
}

/// Tags nest and end, attributes are quoted, only known entities, only characters that XML 1.0 has.
fn assert_well_formed(name: &str, xml: &str) {
    let bad = |c: char| (c < ' ' && !"\t\n\r".contains(c)) || c == '\u{fffe}' || c == '\u{ffff}';
    assert!(!xml.contains(bad), "{name}: a character that XML does not have");
    let mut open = Vec::new();
    let mut rest = xml;
    while let Some((text, tail)) = rest.split_once('<') {
        assert_entities(name, text);
        assert!(!text.contains("]]>"), "{name}: ]]> in text");
        let end = match tail {
            _ if tail.starts_with("!--") => "-->",
            _ if tail.starts_with('?') => "?>",
            _ => ">",
        };
        let (tag, after) = tail.split_once(end).unwrap_or_else(|| panic!("{name}: tag not closed"));
        rest = after;
        if tag.starts_with(['!', '?']) {
            continue;
        }
        assert!(!tag.contains('<'), "{name}: < in a tag: {tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{name}: quotes in {tag}");
        assert_entities(name, tag);
        let word = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(word), "{name}: wrong end");
        } else if !tag.ends_with('/') {
            open.push(word);
        }
    }
    assert_eq!((open.len(), rest.trim()), (0, ""), "{name}: not closed at the end");
}

fn assert_entities(name: &str, text: &str) {
    for after in text.split('&').skip(1) {
        let entity = after.split_once(';').map_or("", |(entity, _)| entity);
        let known = match entity.strip_prefix('#') {
            None => ["amp", "lt", "gt", "quot", "apos"].contains(&entity),
            Some(number) => {
                let code = match number.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                let c = code.ok().and_then(char::from_u32);
                c.is_some_and(|c| c >= ' ' || "\t\n\r".contains(c))
            }
        };
        assert!(known, "{name}: entity &{entity}; in {text:?}");
    }
}

/// Compares a drawing with its golden file, or writes that anew.
fn assert_golden(file: &str, drawn: &str) {
    let golden = graphs().join(file);
    if std::env::var_os("ASOF_BLESS").is_some() {
        std::fs::write(&golden, drawn).unwrap();
    }
    let was = std::fs::read_to_string(&golden).unwrap();
    assert!(drawn == was, "the drawing is not graphs/{file}; ASOF_BLESS=1 writes it anew\n{drawn}");
}

#[test]
fn each_world_is_drawn_as_it_was() {
    for (world, slot) in DRAWINGS {
        let (_dir, store) = replayed(&graphs().join(format!("{world}.jsonl")));
        assert_golden(&format!("{world}.dot"), &drawing(&store, slot));
    }
    let (_dir, store) = replayed(&graphs().join("projects.jsonl"));
    for (file, arguments) in OTHERS {
        assert_golden(file, &asof(&store, arguments));
    }
}

#[test]
fn graphviz_takes_each_drawing_without_a_warning() {
    for (world, _) in DRAWINGS {
        let golden = std::fs::read_to_string(graphs().join(format!("{world}.dot"))).unwrap();
        assert_drawn(world, &golden);
    }
    for (file, _) in OTHERS {
        let golden = std::fs::read_to_string(graphs().join(file)).unwrap();
        if Path::new(file).extension().is_some_and(|e| e == "svg") {
            assert_well_formed(file, &golden);
        } else {
            assert_drawn(file, &golden);
        }
    }
}

/// Labels that have broken drawings: of the format, of HTML and XML, of length, of scripts.
fn hostile() -> Vec<String> {
    let mut hostile: Vec<String> = [
        "\"",
        "\\",
        "\\\"",
        "\\N \\G \\E",
        "ends in \\",
        "two\nlines\r\nthree",
        "tab\there",
        "<b>bold</b>",
        "<",
        "]]>",
        "<!-- -->",
        "&amp; & &lt; &#60; &#x3c;",
        "&nbsp;&bogus;&;",
        "&#0;",
        "&#1;&#x1f;",
        "{a|b}",
        "//x",
        "/* x",
        "# x",
        "\u{0}\u{1}\u{7f}\u{85}",
        "\u{feff}bom",
        "\u{fffe}\u{ffff}",
        "数据库的时间",
        "قاعدة بيانات زمنية",
        "\u{202e}right to left",
        "👩‍🚀🇪🇬",
        "e\u{301}\u{302}\u{303}",
        "",
    ]
    .map(str::to_owned)
    .into();
    hostile.push("x".repeat(5_000));
    hostile.push("\\\"".repeat(2_500));
    hostile.push("长".repeat(5_000));
    hostile
}

/// A name as the gate takes it: no control characters, no outer white space, 1,024 bytes.
fn name(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control()).take(300).collect();
    format!("n {kept} n")
}

#[test]
fn graphviz_takes_hostile_labels_without_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("hostile.jsonl");
    let subject = name(&hostile().concat().chars().take(200).collect::<String>());
    let mut lines = String::new();
    let mut scopes = Vec::new();
    for (number, text) in hostile().iter().enumerate() {
        let scope = format!("acme/{}", name(text).replace(['/', '*'], " "));
        let line = json!({
            "op": "assert", "id": format!("{number} {}", name(text)), "subject": subject,
            "predicate": "says", "value": { "text": text }, "scope": scope, "kind": "stated",
            "recorded_at": format!("2025-01-01T00:00:{number:02}Z"),
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
        scopes.push(scope);
    }
    std::fs::write(&journal, lines).unwrap();
    let (_dir, store) = replayed(&journal);
    assert_drawn("entity", &asof(&store, &["dot", "entity", &subject, "--tenant", "acme"]));
    for (scope, text) in scopes.iter().zip(hostile()).step_by(5) {
        let slot = [subject.as_str(), "says", "--scope", scope];
        let timeline = asof(&store, &[&["dot", "timeline"], slot.as_slice()].concat());
        assert_drawn(&format!("timeline {text:?}"), &timeline);
        let plot = asof(&store, &[&["plot"], slot.as_slice()].concat());
        assert_well_formed(&format!("plot {text:?}"), &plot);
    }
    for (number, text) in hostile().iter().enumerate().step_by(5) {
        let id = format!("{number} {}", name(text));
        let lineage = asof(&store, &["dot", "lineage", &id, "--tenant", "acme"]);
        assert_drawn(&format!("lineage {text:?}"), &lineage);
    }
    for (scope, text) in scopes.iter().zip(hostile()) {
        let drawn = drawing(&store, &[&subject, "says", "--scope", scope]);
        let Some(svg) = assert_drawn(&format!("{text:?}"), &drawn) else { return };
        let facts = svg.matches("class=\"node\"").count();
        assert_eq!(facts, hostile().len() + 6, "a node for each fact, and the legend");
    }
}

#[test]
fn hostile_labels_are_shown_as_they_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("one.jsonl");
    let text = "a \"b\" \\N <i> &lt; 数";
    let line = json!({
        "op": "assert", "id": "one", "subject": "s", "predicate": "says", "value": text,
        "scope": "acme", "kind": "stated", "recorded_at": "2025-01-01T00:00:00Z",
    });
    std::fs::write(&journal, format!("{line}\n")).unwrap();
    let (_dir, store) = replayed(&journal);
    let drawn = drawing(&store, &["s", "says", "--scope", "acme"]);
    let Some(svg) = assert_drawn("one", &drawn) else { return };
    let shown = "a &quot;b&quot; \\N &lt;i&gt; &amp;lt; 数";
    assert!(svg.contains(shown), "not shown as written:\n{svg}");
}
