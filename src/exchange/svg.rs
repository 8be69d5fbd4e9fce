//! The plane of a slot as SVG (R43): recorded time to the right, valid time upwards, one rectangle
//! for each answer. Instants stand at equal distances in their order, not to scale, so that an
//! hour beside a year stays readable. Text is escaped for XML; colours follow the reader's light
//! or dark setting, and outcomes differ by pattern and border as well as colour.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::model::value::Value;
use crate::query::plot::Rectangle;
use crate::time::{Recorded, Valid};
use crate::timeline::resolve::Outcome;

const LEFT: usize = 210;
const TOP: usize = 64;
const WIDE: usize = 170;
const HIGH: usize = 54;
const BELOW: usize = 110;
const LEGEND_LINE: usize = 20;
const COLOURS: usize = 8;
/// Values listed in the legend at most.
const LEGEND_MAX: usize = 24;

/// A text for XML: the five characters with a meaning become entities, control characters a
/// visible mark.
///
/// ```
/// assert_eq!(asof::exchange::svg::escaped("<a & 'b'>\u{1}"), "&lt;a &amp; &#39;b&#39;&gt;\u{fffd}");
/// ```
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The first characters of a text, cut to a width in pixels.
fn fit(text: &str, width: usize) -> String {
    let room = (width / 7).max(1);
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}

const STYLE: &str = "<style>
  svg { background: #ffffff; font-family: sans-serif; font-size: 12px; }
  text { fill: #1a1a1a; } .faint { fill: #595959; font-size: 11px; }
  .axis { stroke: #595959; stroke-width: 1; } .grid { stroke: #dddddd; stroke-width: 1; }
  .known { stroke: #1b7837; stroke-width: 2; } .uncertain { stroke: #8c510a; stroke-width: 2; stroke-dasharray: 6 3; }
  .contested { stroke: #b2182b; stroke-width: 3; } .unknown { stroke: #999999; stroke-dasharray: 2 3; }
  .hatch { stroke: #8c510a; } .cross { stroke: #b2182b; } .none { fill: none; }
  .v0 { fill: #cfe3f5; } .v1 { fill: #fde3c4; } .v2 { fill: #d6efd3; } .v3 { fill: #eadcf4; }
  .v4 { fill: #fbd5d5; } .v5 { fill: #d3eeee; } .v6 { fill: #f3efc0; } .v7 { fill: #e2e2e2; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16181c; } text { fill: #f0f0f0; } .faint { fill: #b5b5b5; }
    .axis { stroke: #b5b5b5; } .grid { stroke: #33373d; }
    .known { stroke: #5bbf72; } .uncertain, .hatch { stroke: #d9a35a; } .contested, .cross { stroke: #f07b84; }
    .v0 { fill: #1f3d57; } .v1 { fill: #573a1a; } .v2 { fill: #21482a; } .v3 { fill: #432a57; }
    .v4 { fill: #5a2a2e; } .v5 { fill: #1d4a4a; } .v6 { fill: #4d4a1c; } .v7 { fill: #3d3f43; }
  }
</style>
<defs>
  <pattern id=\"hatch\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"8\" stroke-width=\"1\" stroke-opacity=\"0.35\"/></pattern>
  <pattern id=\"cross\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><path class=\"cross\" d=\"M0 0L8 8M8 0L0 8\" stroke-width=\"1\" stroke-opacity=\"0.35\"/></pattern>
</defs>
";

/// Where instants stand on the two axes.
struct Axes {
    recorded: Vec<Recorded>,
    valid: Vec<Valid>,
}

impl Axes {
    fn of(rectangles: &[Rectangle]) -> Self {
        let known = rectangles.iter().flat_map(|r| [Some(r.known_from), r.known_until]);
        let valid = rectangles.iter().flat_map(|r| [r.valid_from, r.valid_until]);
        let recorded: BTreeSet<Recorded> = known.flatten().collect();
        let valid: BTreeSet<Valid> = valid.flatten().collect();
        Self { recorded: recorded.into_iter().collect(), valid: valid.into_iter().collect() }
    }

    fn x(&self, at: Option<Recorded>) -> usize {
        let place = at.map_or(self.recorded.len(), |at| self.recorded.partition_point(|r| *r < at));
        LEFT + place * WIDE
    }

    /// Line 0 is since ever, the last is open.
    fn y(&self, line: usize) -> usize {
        TOP + (self.valid.len() + 1).saturating_sub(line) * HIGH
    }

    fn low(&self, from: Option<Valid>) -> usize {
        self.y(from.map_or(0, |at| 1 + self.valid.partition_point(|v| *v < at)))
    }

    fn high(&self, until: Option<Valid>) -> usize {
        self.y(until.map_or(self.valid.len() + 1, |at| 1 + self.valid.partition_point(|v| *v < at)))
    }
}

/// Draws the rectangles of a slot. Deterministic. Cost: linear in the rectangles, quadratic in
/// distinct values at worst.
pub fn plane(title: &str, rectangles: &[Rectangle], left_out: usize) -> String {
    let axes = Axes::of(rectangles);
    let values: BTreeSet<&Vec<Value>> =
        rectangles.iter().map(|r| &r.values).filter(|values| !values.is_empty()).collect();
    let values: Vec<&Vec<Value>> = values.into_iter().collect();
    let bottom = axes.y(0);
    let width = axes.x(None) + 100;
    let listed = values.len().min(LEGEND_MAX) + 4;
    let height = bottom + BELOW + listed.div_ceil(2) * LEGEND_LINE;
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">"
    );
    let _ = writeln!(svg, "<title>{}</title>", escaped(title));
    svg.push_str(STYLE);
    let _ = writeln!(
        svg,
        "<text x=\"16\" y=\"26\" font-size=\"15\" font-weight=\"bold\">{}</text>",
        escaped(&fit(title, width.saturating_sub(32)))
    );
    let note = match left_out {
        0 => "who answers, by what was known and when it holds; in order, not to scale".to_owned(),
        n => format!("the last recorded instants; {n} earlier ones are left out; not to scale"),
    };
    let _ = writeln!(svg, "<text class=\"faint\" x=\"16\" y=\"46\">{note}</text>");
    grid(&mut svg, &axes);
    for rectangle in rectangles {
        answer(&mut svg, &axes, rectangle, &values);
    }
    legend(&mut svg, bottom + BELOW - 30, &values);
    svg.push_str("</svg>\n");
    svg
}

fn grid(svg: &mut String, axes: &Axes) {
    let (right, bottom) = (axes.x(None), axes.y(0));
    for (place, at) in axes.recorded.iter().enumerate() {
        let x = LEFT + place * WIDE;
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{}\"/><text class=\"faint\" x=\"{x}\" y=\"{}\" transform=\"rotate(14 {x} {})\">{at}</text>",
            bottom + 6,
            bottom + 20,
            bottom + 20
        );
    }
    let lines = std::iter::once("-inf".to_owned())
        .chain(axes.valid.iter().map(ToString::to_string))
        .chain(std::iter::once("∞".to_owned()));
    for (line, label) in lines.enumerate() {
        let y = axes.y(line);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{}\" y1=\"{y}\" x2=\"{right}\" y2=\"{y}\"/><text class=\"faint\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6,
            LEFT - 10,
            y + 4
        );
    }
    let _ = writeln!(
        svg,
        "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{}\" y2=\"{bottom}\"/><line class=\"axis\" x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{LEFT}\" y2=\"{}\"/>",
        right + 24,
        TOP - 10
    );
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\">recorded →</text><text x=\"14\" y=\"{}\">valid ↑</text>",
        right + 28,
        bottom + 4,
        TOP + 4
    );
}

fn fill(rectangle: &Rectangle, values: &[&Vec<Value>]) -> String {
    match values.binary_search(&&rectangle.values) {
        Ok(place) => format!("v{}", place % COLOURS),
        Err(_) => "none".to_owned(),
    }
}

fn shown(values: &[Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
}

fn answer(svg: &mut String, axes: &Axes, rectangle: &Rectangle, values: &[&Vec<Value>]) {
    let (left, right) = (axes.x(Some(rectangle.known_from)), axes.x(rectangle.known_until));
    let (low, high) = (axes.low(rectangle.valid_from), axes.high(rectangle.valid_until));
    let (x, y) = (left + 2, high + 2);
    let (w, h) = (right.saturating_sub(left + 4), low.saturating_sub(high + 4));
    let outcome = rectangle.outcome.word();
    let facts = rectangle.facts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let instant = |at: Option<String>, none: &str| at.unwrap_or_else(|| none.to_owned());
    let about = format!(
        "{outcome} {} ({facts}); valid [{}, {}), recorded [{}, {})",
        shown(&rectangle.values),
        instant(rectangle.valid_from.map(|at| at.to_string()), "-inf"),
        instant(rectangle.valid_until.map(|at| at.to_string()), "∞"),
        rectangle.known_from,
        instant(rectangle.known_until.map(|at| at.to_string()), "∞"),
    );
    let class = fill(rectangle, values);
    let _ = writeln!(
        svg,
        "<g><title>{}</title><rect class=\"{class} {outcome}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"3\"/>",
        escaped(&about)
    );
    let pattern = match rectangle.outcome {
        Outcome::Uncertain => Some("hatch"),
        Outcome::Contested => Some("cross"),
        Outcome::Known | Outcome::Unknown => None,
    };
    if let Some(pattern) = pattern {
        let _ = writeln!(
            svg,
            "<rect fill=\"url(#{pattern})\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>"
        );
    }
    let room = w.saturating_sub(16);
    let first = match rectangle.outcome {
        Outcome::Known => shown(&rectangle.values),
        Outcome::Unknown => outcome.to_owned(),
        Outcome::Uncertain | Outcome::Contested => {
            format!("{outcome}: {}", shown(&rectangle.values))
        }
    };
    let middle = y + h / 2;
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\">{}</text><text class=\"faint\" x=\"{}\" y=\"{}\">{}</text></g>",
        x + 8,
        middle.saturating_sub(2),
        escaped(&fit(&first, room)),
        x + 8,
        middle + 14,
        escaped(&fit(&facts, room))
    );
}

fn legend(svg: &mut String, top: usize, values: &[&Vec<Value>]) {
    let outcomes = [("known", ""), ("uncertain", "hatch"), ("contested", "cross"), ("unknown", "")];
    let mut place = 0;
    let mut next = || {
        let at = (16 + (place % 2) * 260, top + (place / 2) * LEGEND_LINE);
        place += 1;
        at
    };
    for (outcome, pattern) in outcomes {
        let (x, y) = next();
        let _ = writeln!(
            svg,
            "<rect class=\"none {outcome}\" x=\"{x}\" y=\"{y}\" width=\"22\" height=\"13\"/>"
        );
        if !pattern.is_empty() {
            let _ = writeln!(
                svg,
                "<rect fill=\"url(#{pattern})\" x=\"{x}\" y=\"{y}\" width=\"22\" height=\"13\"/>"
            );
        }
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{outcome}</text>", x + 30, y + 11);
    }
    for (number, value) in values.iter().enumerate().take(LEGEND_MAX) {
        let (x, y) = next();
        let _ = writeln!(
            svg,
            "<rect class=\"v{}\" x=\"{x}\" y=\"{y}\" width=\"22\" height=\"13\"/><text x=\"{}\" y=\"{}\">{}</text>",
            number % COLOURS,
            x + 30,
            y + 11,
            escaped(&fit(&shown(value), 210))
        );
    }
}
