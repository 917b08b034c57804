//! Takes the events of the libraries: to the log of the caller, else to standard error.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::args::Globals;
use crate::report::{LogFile, Reporter};

/// Writes events up to a level.
struct Log {
    file: Option<LogFile>,
    most: Level,
    spans: AtomicU64,
}

/// Takes events from now on: warnings, and with `--debug` what was decided.
pub(crate) fn install(globals: &Globals, reporter: &Reporter) {
    let most = if globals.debug { Level::DEBUG } else { Level::WARN };
    let log = Log { file: reporter.log(), most, spans: AtomicU64::new(1) };
    // Fails only when one is installed already, which main does once.
    let _ = tracing::subscriber::set_global_default(log);
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let text = line.message + &line.fields;
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let level = if level == "warn" { "warning" } else { &level };
        match &self.file {
            Some(file) => file.line(level, &text),
            None => {
                let _ = writeln!(io::stderr().lock(), "{level}: {text}");
            }
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The message of an event, and its fields behind it.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
    }
}
