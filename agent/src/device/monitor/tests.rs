//! Samples of the machine that runs the tests.

use std::time::Duration;

use link_platform::process::{Program, TiedChild};

use super::*;

#[tokio::test]
async fn a_sample_says_what_the_system_says() {
    let folder = tempfile::tempdir().unwrap();
    let engines = folder.path().join("engines");
    let build = engines.join("llama-server/b1");
    std::fs::create_dir_all(&build).unwrap();
    std::fs::write(build.with_file_name("current"), "b1\n").unwrap();
    let mut monitor =
        Monitor::new(folder.path().join("not/there/yet"), engines, Channel::Beta).unwrap();
    let report = monitor.sample(&[]).await;

    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
    let total: u64 = total.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    assert_eq!(report.memory.total_bytes, total * 1024);
    assert!((1..report.memory.total_bytes).contains(&report.memory.used_bytes), "{report:?}");

    let cpuinfo = std::fs::read_to_string("/proc/stat").unwrap();
    let is_cpu = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    assert_eq!(usize::from(report.cpu_count), cpuinfo.lines().filter(is_cpu).count());
    assert!((0.0..=100.0).contains(&report.cpu_percent), "{report:?}");
    assert!(report.load_1m.unwrap() >= 0.0);

    let disk = report.disk.unwrap();
    let space = disk::space(folder.path()).unwrap().unwrap();
    assert_eq!(disk.total_bytes, space.total);
    assert!(disk.used_bytes.max(disk.free_bytes) <= disk.total_bytes, "{disk:?}");

    assert!(report.agent.memory_bytes > 0 && report.agent.memory_bytes < report.memory.total_bytes);
    assert_eq!(report.engines, []);
    assert_eq!(report.channel, Channel::Beta);
    let builds = report.builds.iter().map(|build| [build.engine.as_str(), build.build.as_str()]);
    assert_eq!(builds.collect::<Vec<_>>(), [["llama-server", "b1"]]);
    assert_eq!(report.clone().bounded(), report);
}

#[tokio::test]
async fn engines_have_their_own_share_and_are_forgotten_when_they_end() {
    let mut monitor =
        Monitor::new(PathBuf::from("/"), PathBuf::from("/no/engines"), Channel::Stable).unwrap();
    let mut busy = shell("while :; do :; done");
    let mut idle = shell("sleep 600");
    let (one, other) = (model(1), model(2));
    let engines = [(one, busy.id()), (other, idle.id()), (model(3), u32::MAX >> 1)];
    let first = monitor.sample(&engines).await;
    assert_eq!(
        first.engines.iter().map(|engine| engine.model_id).collect::<Vec<_>>(),
        [one, other]
    );

    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let report = monitor.sample(&engines).await;
        let [busy, idle] = &report.engines[..] else { panic!("{report:?}") };
        let most = 100.0 * f64::from(report.cpu_count);
        for share in [busy.cpu_percent, idle.cpu_percent, report.agent.cpu_percent] {
            assert!((0.0..=most).contains(&share), "{report:?}");
        }
        assert!(busy.memory_bytes > 0 && idle.memory_bytes > 0, "{report:?}");
        if busy.cpu_percent > idle.cpu_percent {
            break;
        }
        assert!(Instant::now() < deadline, "{report:?}");
    }

    for child in [&mut busy, &mut idle] {
        child.kill();
    }
    drop((busy, idle));
    assert_eq!(monitor.sample(&engines).await.engines, []);
    let known: Vec<_> = monitor.system.processes().keys().copied().collect();
    assert_eq!(known, [monitor.agent], "nothing but ourselves is kept");
}

#[test]
fn the_sensor_that_tells_most_of_the_processor_is_taken() {
    let laptop =
        ["acpitz temp1", "nvme Composite Samsung", "coretemp Core 0", "coretemp Package id 0"];
    assert_eq!(processor_sensor(&laptop), Some(3));
    assert_eq!(processor_sensor(&["amdgpu edge", "k10temp Tccd1", "k10temp Tctl"]), Some(2));
    assert_eq!(processor_sensor(&["iwlwifi_1 temp1", "cpu_thermal temp1"]), Some(1));
    assert_eq!(processor_sensor(&["nvme Composite Samsung", "amdgpu edge"]), None);
    assert_eq!(processor_sensor(&[]), None);
}

fn model(number: u32) -> ModelId {
    format!("mdl_{number:032x}").parse().unwrap()
}

fn shell(script: &str) -> TiedChild {
    let args = vec!["-c".into(), script.into()];
    TiedChild::start(&Program { path: "/bin/sh".into(), args, env: vec![], log: None }).unwrap()
}
