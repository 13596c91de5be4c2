//! The Prometheus text format, version 0.0.4. Pure.
//!
//! The samples of a family are grouped below its help and type; a family without samples is left
//! out. Label values are escaped, so a model or GPU name cannot inject a line.

use std::fmt::Write as _;

/// The media type of the format.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The text written so far.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

/// The type of a family.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A value that only increases while the agent runs. Its name ends in `_total`.
    Counter,
    Gauge,
}

/// A value with its labels.
#[derive(Debug)]
pub(super) struct Sample {
    labels: Vec<(&'static str, String)>,
    value: f64,
}

impl Sample {
    /// Creates a sample; label values are formatted as text.
    pub(super) fn new(labels: &[(&'static str, &dyn ToString)], value: impl Number) -> Self {
        let labels = labels.iter().map(|(name, text)| (*name, text.to_string())).collect();
        Self { labels, value: value.number() }
    }
}

/// A type that can be the value of a sample.
pub(super) trait Number {
    fn number(self) -> f64;
}

impl Number for f64 {
    fn number(self) -> f64 {
        self
    }
}

impl Number for u64 {
    /// Converts exactly up to 2^53, which is far above any real byte count.
    fn number(self) -> f64 {
        self as f64
    }
}

impl Number for bool {
    fn number(self) -> f64 {
        f64::from(u8::from(self))
    }
}

impl Exposition {
    /// Adds a family of samples.
    pub(super) fn add(
        &mut self,
        kind: Kind,
        name: &'static str,
        help: &'static str,
        samples: impl IntoIterator<Item = Sample>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        self.0.push_str(&format!("# HELP {name} {}\n# TYPE {name} {kind}\n", escape(help, false)));
        for sample in samples {
            self.0.push_str(name);
            let pair =
                |(label, text): &(&str, String)| format!("{label}=\"{}\"", escape(text, true));
            let labels: Vec<_> = sample.labels.iter().map(pair).collect();
            if !labels.is_empty() {
                self.0.push_str(&format!("{{{}}}", labels.join(",")));
            }
            writeln!(self.0, " {}", number(sample.value)).expect("a text can be written to");
        }
    }

    /// Adds a family with one unlabelled sample, if there is a value.
    pub(super) fn add_one(
        &mut self,
        kind: Kind,
        name: &'static str,
        help: &'static str,
        value: Option<impl Number>,
    ) {
        self.add(kind, name, help, value.map(|value| Sample::new(&[], value)));
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

fn escape(text: &str, in_quotes: bool) -> String {
    let mut escaped = text.replace('\\', "\\\\").replace('\n', "\\n");
    if in_quotes {
        escaped = escaped.replace('"', "\\\"");
    }
    escaped
}

fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_stands_below_its_help_and_type() {
        let mut text = Exposition::default();
        let restarts = [("commands", 0_u64), ("monitor", 3)];
        let samples = restarts.map(|(id, count)| Sample::new(&[("pipeline", &id)], count));
        text.add(Kind::Counter, "restarts_total", "How often.", samples);
        text.add(Kind::Gauge, "nothing", "Left out.", []);
        text.add_one(Kind::Gauge, "bytes", "How many.", Some(1_u64 << 40));
        text.add_one(Kind::Gauge, "share", "How much.", Some(12.5));
        text.add_one(Kind::Gauge, "unknown", "Left out.", None::<f64>);
        let wanted = "# HELP restarts_total How often.\n\
                      # TYPE restarts_total counter\n\
                      restarts_total{pipeline=\"commands\"} 0\n\
                      restarts_total{pipeline=\"monitor\"} 3\n\
                      # HELP bytes How many.\n\
                      # TYPE bytes gauge\n\
                      bytes 1099511627776\n\
                      # HELP share How much.\n\
                      # TYPE share gauge\n\
                      share 12.5\n";
        assert_eq!(text.into_text(), wanted);
    }

    #[test]
    fn no_text_can_add_a_line_or_a_label() {
        let mut text = Exposition::default();
        let name = "a\"} 1\nb\\";
        text.add(Kind::Gauge, "x", "one\n\\two \"q\"", [Sample::new(&[("name", &name)], true)]);
        let wanted = "# HELP x one\\n\\\\two \"q\"\n\
                      # TYPE x gauge\n\
                      x{name=\"a\\\"} 1\\nb\\\\\"} 1\n";
        assert_eq!(text.into_text(), wanted);
    }

    #[test]
    fn what_is_no_number_is_spelled_as_the_format_has_it() {
        let spelled = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.5].map(number);
        assert_eq!(spelled, ["NaN", "+Inf", "-Inf", "-0.5"]);
    }
}
