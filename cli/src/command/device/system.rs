//! The last system metrics of a device, as lines of `link device show`.

use link_protocol::{
    shown,
    system::{EngineUsage, GpuUsage, SystemReport, SystemSample},
};

use crate::output::{View, bytes};

/// Returns one line for each metric.
pub(super) fn lines(sample: &SystemSample, view: &View) -> String {
    let SystemSample { reported_at, report } = sample;
    let SystemReport { memory, agent, .. } = report;
    let (used, total) = (bytes(memory.used_bytes), bytes(memory.total_bytes));
    let mut rows = vec![
        ("Sampled", view.time(*reported_at)),
        ("Processor", processor(report)),
        ("Memory", format!("{used} of {total}")),
    ];
    if let Some(disk) = &report.disk {
        // What this user cannot write is used, whoever holds it: so the pages and `--select disk` count.
        let used = disk.total_bytes.saturating_sub(disk.free_bytes);
        let [used, free, total] = [used, disk.free_bytes, disk.total_bytes].map(bytes);
        rows.push(("Disk", format!("{used} of {total}, {free} free")));
    }
    rows.extend(report.gpus.iter().map(|one| ("GPU", gpu(one))));
    rows.extend(report.engines.iter().map(|one| ("Engine", engine(one))));
    rows.extend(report.transport.map(|transport| ("Transport", transport.to_string())));
    rows.push(("Agent uses", process(agent.cpu_percent, agent.memory_bytes)));
    rows.iter().map(|(name, value)| format!("{name:<12}{value}\n")).collect()
}

fn processor(report: &SystemReport) -> String {
    let mut parts = vec![format!("{} % of {}", report.cpu_percent, report.cpu_count)];
    parts.extend(report.load_1m.map(|load| format!("load {load}")));
    parts.extend(report.temperature_celsius.map(celsius));
    parts.join(", ")
}

fn gpu(gpu: &GpuUsage) -> String {
    let memory = match (gpu.memory_used_bytes, gpu.memory_total_bytes) {
        (Some(used), Some(total)) => Some(format!("{} of {}", bytes(used), bytes(total))),
        (None, Some(total)) => Some(bytes(total)),
        (Some(used), None) => Some(format!("{} used", bytes(used))),
        (None, None) => None,
    };
    let utilisation = gpu.utilisation_percent.map(|share| format!("{share} %"));
    let parts = [utilisation, memory, gpu.temperature_celsius.map(celsius)];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let name = shown::one_line(&gpu.name);
    if parts.is_empty() { name } else { format!("{name}: {}", parts.join(", ")) }
}

fn engine(engine: &EngineUsage) -> String {
    let EngineUsage { model_id, pid, cpu_percent, memory_bytes } = engine;
    format!("{model_id}: {}, process {pid}", process(*cpu_percent, *memory_bytes))
}

fn process(cpu_percent: f64, memory_bytes: u64) -> String {
    format!("{cpu_percent} % of a processor, {}", bytes(memory_bytes))
}

fn celsius(degrees: f64) -> String {
    format!("{degrees} °C")
}
