//! Tests the output of the tool, and tools that are unavailable, fail or hang.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

use tempfile::TempDir;

use super::*;

#[test]
fn every_line_is_a_gpu_and_what_it_does_not_tell_is_left_out() {
    let table = "NVIDIA GeForce RTX 4090, 45, 10240, 24564, 61\n\
                 Tesla K80, [N/A], 0, 11441, 34\n\
                 Orin (nvgpu), [N/A], [N/A], [N/A], [N/A]\n\
                 NVIDIA GB10, 7, [Not Supported], [Not Supported], [Unknown Error]\r\n\
                 Quadro 600, of, commas, 3, 96, 1024, 50\n";
    let seen: Vec<_> = parse(table)
        .into_iter()
        .map(|gpu| {
            let memory = (gpu.memory_used_bytes, gpu.memory_total_bytes);
            (gpu.name, gpu.utilisation_percent, memory, gpu.temperature_celsius)
        })
        .collect();
    let mebibyte = |count: u64| Some(count * 1024 * 1024);
    let name = str::to_owned;
    assert_eq!(
        seen,
        [
            (
                name("NVIDIA GeForce RTX 4090"),
                Some(45.0),
                (mebibyte(10240), mebibyte(24564)),
                Some(61.0)
            ),
            (name("Tesla K80"), None, (mebibyte(0), mebibyte(11441)), Some(34.0)),
            (name("Orin (nvgpu)"), None, (None, None), None),
            (name("NVIDIA GB10"), Some(7.0), (None, None), None),
            (name("Quadro 600, of, commas"), Some(3.0), (mebibyte(96), mebibyte(1024)), Some(50.0)),
        ]
    );
}

#[test]
fn what_is_no_table_is_no_gpu() {
    for text in [
        "",
        "No devices were found",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure \
         that the latest NVIDIA driver is installed and running.",
        "Unable to determine the device handle for GPU0000:01:00.0: Unknown Error",
    ] {
        assert_eq!(parse(text), [], "{text}");
    }
    assert_eq!(parse("A, nan, 18446744073709551615, -1, inf")[0].memory_used_bytes, None);
    assert_eq!(parse("A, nan, 1, 1, inf")[0].utilisation_percent, None);
}

#[tokio::test]
async fn the_tool_is_found_on_path_and_asked_again() {
    let tool = Tool::new("printf '%s\\n' \"$@\" >$0.asked; echo 'NVIDIA L4, 1, 2, 3, 4'");
    let mut nvidia = tool.find().unwrap();
    for _ in 0..2 {
        let (gpus, still_there) = nvidia.ask().await;
        assert_eq!(gpus[0].name, "NVIDIA L4");
        assert_eq!(tool.note("asked"), format!("{FIELDS}\n{FORMAT}\n"));
        nvidia = still_there.unwrap();
    }
    let relative = env::join_paths(["", "."]).unwrap();
    assert!(Nvidia::find(Some(&relative)).is_none(), "the folder we stand in is not searched");
    assert!(Nvidia::find(None).is_none());
}

#[tokio::test]
async fn a_tool_that_fails_is_asked_again_and_one_that_hangs_or_is_gone_is_not() {
    let failing = Tool::new("echo 'NVIDIA L4, 1, 2, 3, 4'; exit 9");
    let (gpus, still_there) = failing.find().unwrap().ask().await;
    assert_eq!((gpus, still_there.is_some()), (vec![], true));

    let hanging = Tool::new("sleep 600");
    let nvidia = hanging.find().unwrap();
    let (gpus, still_there) = Nvidia { limit: Duration::from_millis(50), ..nvidia }.ask().await;
    assert_eq!((gpus, still_there.is_some()), (vec![], false));

    let gone = hanging.find().unwrap();
    drop(hanging);
    assert!(gone.ask().await.1.is_none());
}

/// A folder with a fake `nvidia-smi`.
struct Tool(TempDir);

impl Tool {
    fn new(script: &str) -> Self {
        let tool = Self(tempfile::tempdir().unwrap());
        std::fs::write(tool.program(), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(tool.program(), Permissions::from_mode(0o755)).unwrap();
        tool
    }

    fn program(&self) -> PathBuf {
        self.0.path().join("nvidia-smi")
    }

    fn find(&self) -> Option<Nvidia> {
        let path = env::join_paths([Path::new("/no/such/folder"), self.0.path()]).unwrap();
        let nvidia = Nvidia::find(Some(&path))?;
        assert_eq!(nvidia.program, self.program());
        Some(nvidia)
    }

    fn note(&self, name: &str) -> String {
        std::fs::read_to_string(self.program().with_extension(name)).unwrap()
    }
}
