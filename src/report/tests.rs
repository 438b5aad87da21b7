//! All outputs over one report.

use super::fixture::{self, ANSI, BIDI, FORMULA, HOSTILE, LINES, PRIVATE, SCRIPT, SECRET, TICKS};
use super::model::{RenderOptions, Report, Section};
use super::printable::{Page, is_invisible};
use super::*;
use std::collections::BTreeSet;

type Render = fn(&Report, &RenderOptions, &mut dyn std::io::Write) -> std::io::Result<()>;

fn rendered(render: Render, report: &Report, options: &RenderOptions) -> String {
    let mut out = Vec::new();
    render(report, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn all_sections() -> RenderOptions {
    RenderOptions { top: 30, sections: Section::ALL.to_vec(), ..RenderOptions::default() }
}

fn revealed() -> RenderOptions {
    RenderOptions { reveal: true, ..all_sections() }
}

fn csv_of(grid: &grid::Grid, report: &Report, options: &RenderOptions) -> String {
    let mut out = Vec::new();
    csv::write_grid(grid, &Page::new(report, options), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn all_csv(report: &Report, options: &RenderOptions) -> String {
    tables::all(report)
        .iter()
        .map(|grid| format!("== {}.csv\n{}\n", grid.name, csv_of(grid, report, options)))
        .collect()
}

#[test]
fn the_first_screen() {
    insta::assert_snapshot!(rendered(render_terminal, &fixture::report(), &RenderOptions::default()));
}

#[test]
fn all_sections_of_the_terminal() {
    insta::assert_snapshot!(rendered(render_terminal, &fixture::report(), &all_sections()));
}

#[test]
fn a_cut_list_says_what_it_leaves_out() {
    let options = RenderOptions { top: 2, ..all_sections() };
    let text = rendered(render_terminal, &fixture::report(), &options);
    assert!(text.contains("Left out: 13 values with 24 calls; all are in tables/values.csv (--out)."), "{text}");
    assert!(text.contains("Left out: 5 keys with 30 calls; all are in tables/unknown_keys.csv (--out)."), "{text}");
    assert!(text.contains("Left out: 1 session with 9 attempts; all are in tables/sessions.csv (--out)."), "{text}");
    let first = rendered(render_terminal, &fixture::report(), &RenderOptions { top: 1, ..RenderOptions::default() });
    assert!(first.contains("Left out: 2 findings (0 errors, 1 warning, 1 note);"), "{first}");
}

#[test]
fn markdown() {
    insta::assert_snapshot!(rendered(render_markdown, &fixture::report(), &RenderOptions::default()));
}

#[test]
fn json() {
    insta::assert_snapshot!(rendered(render_json, &fixture::report(), &RenderOptions::default()));
}

#[test]
fn csv_tables() {
    insta::assert_snapshot!(all_csv(&fixture::report(), &RenderOptions::default()));
}

#[test]
fn colour_adds_nothing_but_colour() {
    let plain = rendered(render_terminal, &fixture::report(), &RenderOptions::default());
    let colour = RenderOptions { colour: true, ..RenderOptions::default() };
    let coloured = rendered(render_terminal, &fixture::report(), &colour);
    assert!(coloured.contains('\u{1b}'));
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn no_line_of_the_terminal_is_too_wide() {
    for width in [60, 100, 110, 120] {
        for options in [RenderOptions { width, ..all_sections() }, RenderOptions { width, ..RenderOptions::default() }]
        {
            let text = rendered(render_terminal, &fixture::report(), &options);
            // Tables have columns of digits that cannot give way on narrow terminals.
            let wide = text.lines().filter(|line| width >= 100 && line.chars().count() > usize::from(width));
            assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new());
        }
    }
}

#[test]
fn hostile_text_is_inert_everywhere() {
    let report = fixture::report();
    for options in [all_sections(), revealed()] {
        let terminal = rendered(render_terminal, &report, &options);
        let markdown = rendered(render_markdown, &report, &options);
        let json = rendered(render_json, &report, &options);
        let csv = all_csv(&report, &options);
        for (name, text) in [("terminal", &terminal), ("markdown", &markdown), ("json", &json), ("csv", &csv)] {
            let odd: BTreeSet<char> = text.chars().filter(|c| *c != '\n' && is_invisible(*c)).collect();
            assert!(odd.is_empty(), "{name}: {odd:?}");
            assert!(!text.contains(LINES) && (name == "json" || !text.contains(BIDI)));
            assert!(!text.contains(SECRET), "{name} shows a credential");
        }
        assert!(!markdown.contains("<script") && !json.contains("<script"));
        let unescaped =
            ["\\`", "\\[", "\\]", "\\*", "\\|"].iter().fold(markdown.replace("**", ""), |text, e| text.replace(e, ""));
        assert!(!unescaped.contains(['`', '[', ']', '*']), "{unescaped}");
        for record in ::csv::ReaderBuilder::new().flexible(true).from_reader(csv.as_bytes()).records() {
            for field in record.unwrap().iter().filter(|field| field.parse::<f64>().is_err()) {
                assert!(!field.starts_with(['=', '+', '-', '@']) || field.starts_with("== "), "{field}");
            }
        }
    }
}

#[test]
fn every_markdown_table_keeps_its_columns() {
    let text = rendered(render_markdown, &fixture::report(), &revealed());
    let mut width = None;
    for line in text.lines() {
        if !line.starts_with('|') {
            width = None;
            continue;
        }
        let cells = line.replace("\\|", "").matches('|').count();
        assert_eq!(*width.get_or_insert(cells), cells, "{line}");
    }
}

#[test]
fn private_text_stays_out_unless_revealed() {
    let report = fixture::report();
    let hidden = all_sections();
    let outputs = [
        rendered(render_terminal, &report, &hidden),
        rendered(render_markdown, &report, &hidden),
        rendered(render_json, &report, &hidden),
        all_csv(&report, &hidden),
    ];
    for output in outputs {
        assert!(!output.contains("7731") && !output.contains("Ignore the rest"));
        assert!(output.contains(&report.run.hash_key.digest(fixture::shown(PRIVATE, false).hash)));
    }
    let shown = rendered(render_json, &report, &revealed());
    assert!(shown.contains(PRIVATE) && shown.contains("Ignore the rest"));
}

#[test]
fn json_satisfies_the_checked_in_schema_and_keeps_exact_text() {
    let schema: serde_json::Value = serde_json::from_str(json::SCHEMA_TEXT).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for options in [RenderOptions::default(), revealed()] {
        for report in [fixture::report(), Report { audit: Default::default(), errors: Vec::new(), ..fixture::report() }]
        {
            let text = rendered(render_json, &report, &options);
            let document: serde_json::Value = serde_json::from_str(&text).unwrap();
            let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}");
        }
    }
    let document: serde_json::Value =
        serde_json::from_str(&rendered(render_json, &fixture::report(), &revealed())).unwrap();
    let values: Vec<&str> = document["arguments"][0]["values"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|value| value["value"].as_str())
        .collect();
    for exact in [ANSI, FORMULA, SCRIPT, BIDI, TICKS, LINES, "", "   ", " warm"] {
        assert!(values.contains(&exact), "{exact:?}");
    }
    let keys: Vec<&str> =
        document["unknown_keys"].as_array().unwrap().iter().filter_map(|key| key["key"].as_str()).collect();
    assert_eq!(keys[..6], HOSTILE[..6]);
    assert!(keys[6].starts_with("<credential, 35 chars, #"));
}

#[test]
fn a_broken_document_fails_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(json::SCHEMA_TEXT).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let text = rendered(render_json, &fixture::report(), &RenderOptions::default());
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["arguments"][0]["calls"] = serde_json::json!("150");
    assert!(!validator.is_valid(&document));
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document.as_object_mut().unwrap().remove("clients");
    assert!(!validator.is_valid(&document));
}

#[test]
fn only_the_run_varies() {
    let report = fixture::report();
    let mut later = fixture::report();
    later.run.at = fixture::at(5_000);
    later.run.version = "9.9.9".into();
    let parse = |report: &Report| -> serde_json::Value {
        serde_json::from_str(&rendered(render_json, report, &RenderOptions::default())).unwrap()
    };
    let (mut one, mut two) = (parse(&report), parse(&later));
    assert_ne!(one["run"], two["run"]);
    one["run"].take();
    two["run"].take();
    assert_eq!(one, two);
    assert_eq!(
        rendered(render_json, &report, &RenderOptions::default()),
        rendered(render_json, &fixture::report(), &RenderOptions::default())
    );
}

#[test]
fn every_table_is_as_wide_as_its_header_and_names_are_unique() {
    let grids = tables::all(&fixture::report());
    let names: BTreeSet<&str> = grids.iter().map(|grid| grid.name).collect();
    assert_eq!(names.len(), grids.len());
    for grid in &grids {
        let columns: BTreeSet<&str> = grid.columns.iter().copied().collect();
        assert_eq!(columns.len(), grid.columns.len(), "{}", grid.name);
        assert!(!grid.rows.is_empty(), "the fixture has no row for {}", grid.name);
        assert!(grid.rows.iter().all(|row| row.len() == grid.columns.len()), "{}", grid.name);
    }
}

#[test]
fn an_empty_audit_renders() {
    let report = Report { audit: Default::default(), errors: Vec::new(), ..fixture::report() };
    for options in [RenderOptions::default(), all_sections()] {
        assert!(rendered(render_terminal, &report, &options).lines().count() > 3);
        assert!(rendered(render_markdown, &report, &options).contains("No findings."));
    }
}

#[test]
fn the_output_folder_holds_every_format_and_nothing_of_an_earlier_run() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("deep/out");
    let out = OutDir::prepare(&path).unwrap();
    assert!(!scratch.path().join("deep").exists(), "nothing is made before there is something to write");
    std::fs::create_dir_all(path.join("charts")).unwrap();
    for (name, ours) in [("old.png", true), ("left-out.txt", true), ("mine.txt", false)] {
        let file = path.join("charts").join(name);
        std::fs::write(&file, "x").unwrap();
        assert_eq!(out.replaces(&file), ours, "{name}");
    }
    out.write(&fixture::report(), &RenderOptions::default()).unwrap();
    assert!(!path.join("charts/old.png").exists() && !path.join("charts/left-out.txt").exists());
    assert!(path.join("charts/mine.txt").exists());
    assert!(out.replaces(&path.join("report.json")));
    let hidden =
        std::fs::read_dir(&path).unwrap().any(|entry| entry.unwrap().file_name().as_encoded_bytes()[0] == b'.');
    assert!(!hidden, "the draft is gone");
    let names = |folder: &str| -> BTreeSet<String> {
        std::fs::read_dir(path.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    assert_eq!(names("tables").len(), tables::all(&fixture::report()).len());
    let pictures = names("charts");
    for kind in ["values-", "days-", "column-", "sessions-", "chain-", "rate-"] {
        for extension in [".png", ".svg"] {
            let found = pictures.iter().any(|name| name.starts_with(kind) && name.ends_with(extension));
            assert!(found, "{kind}{extension} in {pictures:?}");
        }
    }
    let rejected = std::fs::read_to_string(path.join("rejected.ndjson")).unwrap();
    let line: serde_json::Value = serde_json::from_str(rejected.trim()).unwrap();
    assert_eq!(line["position"], 9);
    assert!(line["excerpt"].is_null());
}

#[test]
fn a_bad_output_path_fails_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir_all(scratch.path().join("taken/report.json")).unwrap();
    for wrong in [&file, &file.join("below"), &scratch.path().join("taken")] {
        assert!(OutDir::prepare(wrong).is_err(), "{}", wrong.display());
    }
}

#[test]
fn pictures_stay_inside_their_frame_and_labels_do_not_touch() {
    let (drawn, left_out) = pictures::pictures(&fixture::report(), &RenderOptions::default());
    assert_eq!(left_out, None);
    assert!(drawn.len() >= 4);
    for (name, canvas) in &drawn {
        canvas.assert_legible(name);
    }
}

#[test]
fn svg_text_is_no_markup_and_png_is_a_picture() {
    let scratch = tempfile::tempdir().unwrap();
    let (canvas, _) = chart::canvas::Canvas::titled(120, SCRIPT, "<a href=\"x\">&amp;");
    let (svg, png) = (scratch.path().join("a.svg"), scratch.path().join("a.png"));
    chart::paint::svg(&canvas, &svg).unwrap();
    chart::paint::png(&canvas, &png).unwrap();
    let text = std::fs::read_to_string(svg).unwrap();
    assert!(!text.contains("<script") && !text.contains("<a ") && text.contains("&lt;script&gt;"));
    assert!(std::fs::read(png).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
}
