//! How fast a month of traffic is read, and how much memory that takes.
//!
//! ```text
//! cargo bench --bench month                 0.2 GB, three rounds
//! cargo bench --bench month -- 0.2 1 4      these sizes, in GB
//! MCPTALLY_BENCH_ROUNDS=5 cargo bench --bench month -- 1
//! ```
//!
//! The month is generated into a temporary folder (`TMPDIR` says where) and read back at once, so that it comes from
//! the page cache where it fits. All programs take turns within a round and the table shows medians. In the same run:
//!
//! - *touch every byte*: two threads read the file in blocks and count line feeds, the limit of any reader;
//! - *serde_json, skip all*: two threads let serde_json validate every line and keep nothing, the named peer.
//!
//! Peak memory is the kernel's own high-water mark (`VmHWM`) of the child, read every millisecond while it runs; it is
//! not known on systems without `/proc`. What the audit counted is held against what the generator wrote: a fast wrong
//! answer stops the benchmark.

mod generator;

use generator::Month;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const SEED: u64 = 20_260_301;
const THREADS: u64 = 2;
const BLOCK: usize = 1 << 20;

fn main() -> ExitCode {
    match benchmark() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn benchmark() -> Outcome<()> {
    let mut sizes: Vec<f64> = Vec::new();
    for argument in std::env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
        sizes.push(argument.parse().map_err(|_| format!("`{argument}` is no size in GB"))?);
    }
    if sizes.is_empty() {
        sizes.push(0.2);
    }
    let rounds: usize = match std::env::var("MCPTALLY_BENCH_ROUNDS") {
        Ok(text) => text.parse().map_err(|_| format!("MCPTALLY_BENCH_ROUNDS: `{text}` is no number"))?,
        Err(_) => 3,
    };
    for size in sizes {
        measure((size * 1e9) as u64, rounds.max(1))?;
    }
    Ok(())
}

/// One line of the table: what ran, each round's seconds, the highest memory of any round in KiB.
struct Row {
    name: &'static str,
    seconds: Vec<f64>,
    peak_kib: Option<u64>,
}

impl Row {
    fn new(name: &'static str) -> Self {
        Self { name, seconds: Vec::new(), peak_kib: None }
    }

    fn add(&mut self, (took, peak_kib): (Duration, Option<u64>)) {
        self.seconds.push(took.as_secs_f64());
        self.peak_kib = self.peak_kib.max(peak_kib);
    }

    fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
    }
}

fn measure(bytes: u64, rounds: usize) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let month_file = folder.path().join("month.ndjson");
    let frames = folder.path().join("frames");
    let report = folder.path().join("report.json");

    let started = Instant::now();
    let month = {
        let mut out = BufWriter::with_capacity(BLOCK, File::create(&month_file)?);
        let month = generator::write(&mut out, bytes, SEED)?;
        out.flush()?;
        month
    };
    describe(&month, started.elapsed());

    let mut touch = Row::new("touch every byte");
    let mut skip = Row::new("serde_json, skip all");
    let mut ingest = Row::new("ingest");
    let mut audit_frames = Row::new("audit the frames");
    let mut audit = Row::new("audit the capture");
    for _ in 0..rounds {
        touch.add(timed(|| {
            let lines = per_thread(&month_file, |range| count_line_feeds(&month_file, range))?;
            same("lines touched", lines, month.lines)
        })?);
        skip.add(timed(|| {
            let lines = per_thread(&month_file, |range| skip_lines(&month_file, range))?;
            same("lines parsed", lines, month.lines)
        })?);
        if frames.exists() {
            fs::remove_dir_all(&frames)?;
        }
        ingest.add(run(&["ingest".as_ref(), month_file.as_ref(), "--frames".as_ref(), frames.as_ref()])?);
        audit_frames.add(run(&["audit".as_ref(), frames.as_ref(), "--json".as_ref(), report.as_ref()])?);
        check(&report, &month)?;
        audit.add(run(&["audit".as_ref(), month_file.as_ref(), "--json".as_ref(), report.as_ref()])?);
        check(&report, &month)?;
    }
    print_table(&month, &[touch, skip, ingest, audit_frames, audit]);
    Ok(())
}

fn describe(month: &Month, took: Duration) {
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
    println!(
        "\nA month of {:.2} GB, {} lines, {} sessions (generated at {:.0} MB/s)",
        month.bytes as f64 / 1e9,
        month.lines,
        month.sessions,
        month.bytes as f64 / 1e6 / took.as_secs_f64()
    );
    println!(
        "tool requests {:.0} % of lines, {:.1} % of bytes; tool results {:.1} % of bytes, {} quote a prompt exchange; \
         prompts {:.1} %, elicitations {:.1} % of lines",
        share(month.tool_requests, month.lines),
        share(month.tool_request_bytes, month.bytes),
        share(month.tool_result_bytes, month.bytes),
        month.quoting_results,
        share(month.prompt_lines, month.lines),
        share(2 * month.elicitations, month.lines),
    );
}

fn print_table(month: &Month, rows: &[Row]) {
    let megabytes = month.bytes as f64 / 1e6;
    let touch = rows.first().map_or(f64::NAN, Row::median);
    let skip = rows.get(1).map_or(f64::NAN, Row::median);
    println!(
        "{:<22} {:>9} {:>9} {:>9} {:>15} {:>15}",
        "", "seconds", "MB/s", "peak MB", "of the limit", "of serde_json"
    );
    for row in rows {
        let seconds = row.median();
        let peak = row.peak_kib.map_or("-".to_owned(), |kib| format!("{:.0}", kib as f64 * 1024.0 / 1e6));
        println!(
            "{:<22} {:>9.3} {:>9.0} {:>9} {:>14.2}x {:>14.2}x",
            row.name,
            seconds,
            megabytes / seconds,
            peak,
            touch / seconds,
            skip / seconds
        );
    }
}

fn timed(work: impl FnOnce() -> Outcome<()>) -> Outcome<(Duration, Option<u64>)> {
    let started = Instant::now();
    work()?;
    Ok((started.elapsed(), None))
}

/// Runs the release binary, and watches its memory until it ends.
fn run(arguments: &[&Path]) -> Outcome<(Duration, Option<u64>)> {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcptally"))
        .args(arguments)
        .arg("--quiet")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let mut peak_kib = None;
    let status = loop {
        peak_kib = peak_kib.max(high_water_kib(&child));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let took = started.elapsed();
    if !status.success() {
        return Err(format!("mcptally {} ended with {status}", arguments[0].display()).into());
    }
    Ok((took, peak_kib))
}

/// `VmHWM` of a running process; it only ever grows, so that the last value read is the peak of all before it.
fn high_water_kib(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The report must say what the generator wrote.
fn check(report: &Path, month: &Month) -> Outcome<()> {
    let text = fs::read(report).map_err(|error| format!("{}: {error}", report.display()))?;
    let report: Value = serde_json::from_slice(&text)?;
    let totals = &report["ledger"]["totals"];
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    let sum = |table: &str, column: &str| -> u64 {
        report[table].as_array().map_or(0, |rows| rows.iter().map(|row| number(&row[column])).sum())
    };
    same("prompt calls", number(&totals["prompt_calls"]), month.prompt_calls)?;
    same("elicitations", number(&totals["elicitations"]), month.elicitations)?;
    same("sessions", number(&totals["sessions"]), month.sessions)?;
    same("rejected records", number(&totals["rejected"]), 0)?;
    same("unintended calls", sum("arguments", "unintended"), month.unintended_tones)?;
    same("usable answers", sum("elicitations", "accept_usable"), month.usable_accepts)?;
    same("unusable answers", sum("elicitations", "accept_unusable"), month.unusable_accepts)
}

fn same(what: &str, found: u64, written: u64) -> Outcome<()> {
    if found == written { Ok(()) } else { Err(format!("{what}: {found}, but {written} were written").into()) }
}

/// Gives each thread its share of the file and adds up what they return.
fn per_thread(file: &Path, work: impl Fn((u64, u64)) -> Outcome<u64> + Sync) -> Outcome<u64> {
    let length = fs::metadata(file)?.len();
    let share = length.div_ceil(THREADS);
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || work((thread * share, ((thread + 1) * share).min(length)))))
            .collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread failed")?).sum()
    })
}

fn count_line_feeds(file: &Path, (from, to): (u64, u64)) -> Outcome<u64> {
    let mut file = File::open(file)?;
    file.seek(SeekFrom::Start(from))?;
    let mut block = vec![0; BLOCK];
    let mut left = to - from;
    let mut lines = 0;
    while left > 0 {
        let want = left.min(BLOCK as u64) as usize;
        let read = file.read(&mut block[..want])?;
        if read == 0 {
            break;
        }
        lines += memchr::memchr_iter(b'\n', &block[..read]).count() as u64;
        left -= read as u64;
    }
    Ok(lines)
}

/// Parses every line that begins in the range. A line belongs to the thread in whose range it begins.
fn skip_lines(file: &Path, (from, to): (u64, u64)) -> Outcome<u64> {
    let mut file = File::open(file)?;
    // One byte earlier, so that a line that begins exactly here is told from the tail of another thread's.
    let mut position = from.saturating_sub(1);
    file.seek(SeekFrom::Start(position))?;
    let mut buffer: Vec<u8> = Vec::with_capacity(2 * BLOCK);
    let mut in_tail = from > 0;
    let mut lines = 0;
    loop {
        let filled = buffer.len();
        buffer.resize(filled + BLOCK, 0);
        let read = file.read(&mut buffer[filled..])?;
        buffer.truncate(filled + read);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &buffer) {
            let begins = position + start as u64;
            if !in_tail && begins >= to {
                return Ok(lines);
            }
            if !in_tail {
                serde_json::from_slice::<IgnoredAny>(&buffer[start..end])?;
                lines += 1;
            }
            in_tail = false;
            start = end + 1;
        }
        buffer.drain(..start);
        position += start as u64;
        if read == 0 {
            return Ok(lines);
        }
    }
}
