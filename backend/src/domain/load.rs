//! The load of a device over time, in steps that become longer with age.
//!
//! A step holds minimum, sum, maximum and number of the samples of each series, so steps can be merged in any order.
//! Steps are stored as text, many in one row: `OFFSET,VALUE,…;` with a value `MIN:SUM:MAX:SAMPLES`, one number if there
//! is one sample, and nothing if the device cannot measure the series.

use std::collections::BTreeMap;

use jiff::Timestamp;
use link_protocol::{
    backend_api::metrics::{MetricPoint, MetricRange, MetricsPeriod},
    system::SystemReport,
};

/// The series: processors, memory, disk, graphics processors, their memory, temperature, and temperature of the
/// graphics processors.
const SERIES: usize = 7;
/// The maximum number of points in one answer.
const POINTS: i64 = 500;
const MIB: u64 = 1024 * 1024;
/// The maximum of a stored size in MiB, so that a number of bytes is exact in JSON.
const MOST_MIB: u64 = 1 << 32;

/// How long a stored step is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Level {
    TenSeconds,
    Minute,
    QuarterHour,
}

/// The samples of one series in one step, in tenths or MiB.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Range {
    min: i64,
    sum: i64,
    max: i64,
    samples: i64,
}

/// The unit of the stored numbers of a series.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Tenth,
    Mebibyte,
}

/// One step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    /// The beginning, in seconds since 1970.
    begin: i64,
    series: [Option<Range>; SERIES],
}

/// A stored text is not a list of steps.
#[derive(Debug, thiserror::Error)]
#[error("the stored load of a device is malformed")]
pub struct Malformed;

impl Level {
    /// Returns the length of a step in seconds.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        match self {
            Self::TenSeconds => 10,
            Self::Minute => 60,
            Self::QuarterHour => 900,
        }
    }

    /// Returns the span in seconds whose steps one row holds.
    #[must_use]
    pub const fn row_seconds(self) -> i64 {
        match self {
            Self::TenSeconds | Self::Minute => 900,
            Self::QuarterHour => 86_400,
        }
    }

    /// Returns the age in seconds at which steps become longer, or at which the longest are deleted.
    #[must_use]
    pub const fn kept_seconds(self) -> i64 {
        match self {
            Self::TenSeconds => 3_600,
            Self::Minute => 86_400,
            Self::QuarterHour => 30 * 86_400,
        }
    }

    /// Returns the level to which old steps are merged.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::TenSeconds => Some(Self::Minute),
            Self::Minute => Some(Self::QuarterHour),
            Self::QuarterHour => None,
        }
    }
}

impl Range {
    const fn one(value: i64) -> Self {
        Self { min: value, sum: value, max: value, samples: 1 }
    }

    fn merged(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            sum: self.sum.saturating_add(other.sum),
            max: self.max.max(other.max),
            samples: self.samples.saturating_add(other.samples),
        }
    }

    fn parse(text: &str) -> Result<Option<Self>, Malformed> {
        let number = |text: &str| text.parse::<i64>().map_err(|_| Malformed);
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [""] => Ok(None),
            [value] => Ok(Some(Self::one(number(value)?))),
            [min, sum, max, samples] => Ok(Some(Self {
                min: number(min)?,
                sum: number(sum)?,
                max: number(max)?,
                samples: number(samples)?.max(1),
            })),
            _ => Err(Malformed),
        }
    }

    fn text(self) -> String {
        let Self { min, sum, max, samples } = self;
        if samples == 1 { format!("{sum}") } else { format!("{min}:{sum}:{max}:{samples}") }
    }

    #[expect(clippy::cast_precision_loss, reason = "sizes and tenths are far below 2^53")]
    fn scaled(self, unit: Unit) -> MetricRange {
        let avg = self.sum as f64 / self.samples as f64;
        // Tenths are shown with two decimals, and bytes without.
        let of = |number: f64| match unit {
            Unit::Tenth => (number * 10.0).round() / 100.0,
            Unit::Mebibyte => (number * 1_048_576.0).round(),
        };
        MetricRange { min: of(self.min as f64), avg: of(avg), max: of(self.max as f64) }
    }
}

impl Step {
    /// Makes the step of one sample that arrived at `now`.
    #[must_use]
    pub fn of(report: &SystemReport, now: Timestamp) -> Self {
        let gpus = || report.gpus.iter();
        let hottest = gpus().filter_map(|gpu| gpu.temperature_celsius).reduce(f64::max);
        let busiest = gpus().filter_map(|gpu| gpu.utilisation_percent).reduce(f64::max);
        let gpu_memory = gpus().filter_map(|gpu| gpu.memory_used_bytes).reduce(u64::saturating_add);
        let values = [
            Some(tenths(report.cpu_percent)),
            Some(mib(report.memory.used_bytes)),
            // What is not free is used, as in the list of devices: that includes the blocks that the system keeps for itself.
            report.disk.map(|disk| mib(disk.total_bytes.saturating_sub(disk.free_bytes))),
            busiest.map(tenths),
            gpu_memory.map(mib),
            report.temperature_celsius.map(tenths),
            hottest.map(tenths),
        ];
        let begin = beginning(now.as_second(), Level::TenSeconds.seconds());
        Self { begin, series: values.map(|value| value.map(Range::one)) }
    }

    /// Returns the beginning in seconds since 1970.
    #[must_use]
    pub const fn begin(&self) -> i64 {
        self.begin
    }

    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.series.iter_mut().zip(other.series) {
            *mine = match (*mine, theirs) {
                (Some(mine), Some(theirs)) => Some(mine.merged(theirs)),
                (mine, theirs) => mine.or(theirs),
            };
        }
    }

    fn point(&self) -> Result<MetricPoint, jiff::Error> {
        let scaled = |series: Option<Range>, unit| series.map(|range| range.scaled(unit));
        let [cpu, memory, disk, gpu, gpu_memory, temperature, gpu_temperature] = self.series;
        let samples = self.series.iter().flatten().map(|range| range.samples).max().unwrap_or(0);
        Ok(MetricPoint {
            at: Timestamp::from_second(self.begin)?,
            samples: u32::try_from(samples).unwrap_or(u32::MAX),
            cpu_percent: scaled(cpu, Unit::Tenth),
            memory_used_bytes: scaled(memory, Unit::Mebibyte),
            disk_used_bytes: scaled(disk, Unit::Mebibyte),
            gpu_percent: scaled(gpu, Unit::Tenth),
            gpu_memory_used_bytes: scaled(gpu_memory, Unit::Mebibyte),
            temperature_celsius: scaled(temperature, Unit::Tenth),
            gpu_temperature_celsius: scaled(gpu_temperature, Unit::Tenth),
        })
    }
}

/// Returns the beginning of the span of `width` seconds that contains `at`.
#[must_use]
pub const fn beginning(at: i64, width: i64) -> i64 {
    at - at.rem_euclid(width)
}

/// Reads the steps of a row that begins at `row`.
///
/// # Errors
/// [`Malformed`].
pub fn decode(row: i64, text: &str) -> Result<Vec<Step>, Malformed> {
    let steps = text.split_terminator(';').map(|step| {
        let mut fields = step.split(',');
        let offset = fields.next().and_then(|offset| offset.parse::<i64>().ok());
        let mut series = [None; SERIES];
        for place in &mut series {
            *place = Range::parse(fields.next().ok_or(Malformed)?)?;
        }
        Ok(Step { begin: row.checked_add(offset.ok_or(Malformed)?).ok_or(Malformed)?, series })
    });
    steps.collect()
}

/// Writes steps as the text of a row that begins at `row`.
#[must_use]
pub fn encode(row: i64, steps: &[Step]) -> String {
    let step = |step: &Step| {
        let values = step.series.map(|range| range.map(Range::text).unwrap_or_default());
        format!("{},{};", step.begin - row, values.join(","))
    };
    steps.iter().map(step).collect()
}

/// Merges steps into steps of `width` seconds, in order.
#[must_use]
pub fn merged(steps: &[Step], width: i64) -> Vec<Step> {
    let mut all: BTreeMap<i64, Step> = BTreeMap::new();
    for step in steps {
        let begin = beginning(step.begin, width);
        let empty = Step { begin, series: [None; SERIES] };
        all.entry(begin).or_insert(empty).merge(step);
    }
    all.into_values().collect()
}

/// Returns the length of a period and of its steps in an answer, in seconds.
#[must_use]
pub const fn resolution(period: MetricsPeriod) -> (i64, i64) {
    let (length, base) = match period {
        MetricsPeriod::Hour => (3_600, Level::TenSeconds.seconds()),
        MetricsPeriod::Day => (86_400, Level::Minute.seconds()),
        MetricsPeriod::Week => (7 * 86_400, Level::QuarterHour.seconds()),
        MetricsPeriod::Month => (30 * 86_400, Level::QuarterHour.seconds()),
    };
    let mut times = 1;
    // A period that does not begin with a step has one step more.
    while length / (base * times) + 1 > POINTS {
        times += 1;
    }
    (length, base * times)
}

/// Returns the points of the steps from `from` on, in steps of `width` seconds.
///
/// # Errors
/// [`jiff::Error`] if a stored time is out of range.
pub fn points(steps: &[Step], from: i64, width: i64) -> Result<Vec<MetricPoint>, jiff::Error> {
    let mut steps = merged(steps, width);
    steps.retain(|step| step.begin >= beginning(from, width));
    steps.iter().map(Step::point).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "a bounded report has small values")]
fn tenths(value: f64) -> i64 {
    (value * 10.0).round() as i64
}

fn mib(bytes: u64) -> i64 {
    i64::try_from((bytes / MIB).min(MOST_MIB)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_its_text_and_merging_keeps_sums() {
        let steps: Vec<Step> = (0..90).map(|number| step(9_000 + 10 * number, number)).collect();
        assert_eq!(decode(9_000, &encode(9_000, &steps)).unwrap(), steps);
        let minutes = merged(&steps, 60);
        assert_eq!(minutes.len(), 15);
        assert_eq!(decode(9_000, &encode(9_000, &minutes)).unwrap(), minutes);
        let whole = merged(&minutes, 900);
        assert_eq!(whole, merged(&steps, 900));
        let range = Range { min: 0, sum: 89 * 45, max: 89, samples: 90 };
        assert_eq!((whole.len(), whole[0].series[0], whole[0].series[3]), (1, Some(range), None));
    }

    #[test]
    fn what_is_no_list_of_steps_is_refused() {
        for text in ["x", "1;", "1,2,3;", "1,2,,,,,,a;", "1,1:2,,,,,,;"] {
            assert!(decode(0, text).is_err(), "{text}");
        }
        assert_eq!(decode(0, "").unwrap(), []);
    }

    #[test]
    fn no_answer_has_more_points_than_the_limit() {
        use MetricsPeriod::{Day, Hour, Month, Week};
        let steps = [Hour, Day, Week, Month].map(|period| resolution(period).1);
        assert_eq!(steps, [10, 180, 1_800, 5_400]);
    }

    #[test]
    fn a_point_has_percent_and_bytes() {
        let mut one = step(0, 123);
        one.merge(&step(0, 124));
        let point = one.point().unwrap();
        let cpu = point.cpu_percent.unwrap();
        assert_eq!((cpu.min, cpu.avg, cpu.max, point.samples), (12.3, 12.35, 12.4, 2));
        assert_eq!(point.memory_used_bytes.unwrap().max, 124.0 * 1_048_576.0);
    }

    fn step(begin: i64, value: i64) -> Step {
        let mut series = [None; SERIES];
        series[0] = Some(Range::one(value));
        series[1] = Some(Range::one(value));
        Step { begin, series }
    }
}
