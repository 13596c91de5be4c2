//! AMD GPUs, read from their driver's files. A sleeping card is listed but not woken.

#![expect(clippy::disallowed_methods, reason = "IO shell: lists the cards")]

use std::{
    fs::read_dir,
    path::{Path, PathBuf},
    str::FromStr,
};

use link_platform::fs;
use link_protocol::system::GpuUsage;

/// Reads the cards in the folder `cards`; returns none if the folder is missing.
pub(crate) fn read(cards: &Path) -> Vec<GpuUsage> {
    let mut numbers: Vec<u32> = names(cards)
        .filter_map(|name| name.strip_prefix("card").and_then(|number| number.parse().ok()))
        .collect();
    numbers.sort_unstable();
    numbers
        .into_iter()
        .filter_map(|number| card(&cards.join(format!("card{number}")).join("device")))
        .collect()
}

/// Reads one card; only AMD's driver reports the memory.
fn card(device: &Path) -> Option<GpuUsage> {
    let memory_total_bytes = number(device, "mem_info_vram_total")?;
    let awake = text(device, "power/runtime_status").as_deref() != Some("suspended");
    let temperature = || sensors(device).find_map(|sensor| number::<f64>(&sensor, "temp1_input"));
    Some(GpuUsage {
        name: name(device),
        utilisation_percent: awake.then(|| number(device, "gpu_busy_percent")).flatten(),
        memory_used_bytes: number(device, "mem_info_vram_used"),
        memory_total_bytes: Some(memory_total_bytes),
        temperature_celsius: awake.then(temperature).flatten().map(|thousandths| thousandths / 1e3),
    })
}

fn name(device: &Path) -> String {
    text(device, "product_name").unwrap_or_else(|| {
        let id = text(device, "device").unwrap_or_default();
        format!("AMD GPU {id}").trim_end().to_owned()
    })
}

fn sensors(device: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = device.join("hwmon");
    names(&folder).map(move |name| folder.join(name))
}

fn names(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

fn number<T: FromStr>(folder: &Path, file: &str) -> Option<T> {
    text(folder, file)?.parse().ok()
}

fn text(folder: &Path, file: &str) -> Option<String> {
    let text = fs::read_to_string(&folder.join(file)).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cards_of_amd_are_read_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{text}\n")).unwrap();
        };
        write("card10/device/mem_info_vram_total", "17163091968");
        write("card10/device/mem_info_vram_used", "1073741824");
        write("card10/device/gpu_busy_percent", "99");
        write("card10/device/hwmon/hwmon4/temp1_input", "67500");
        write("card10/device/power/runtime_status", "active");
        write("card10/device/device", "0x73bf");
        write("card10-DP-1/device/mem_info_vram_total", "1");
        write("card1/device/product_name", "AMD Instinct MI300X");
        write("card1/device/mem_info_vram_total", "512");
        write("card1/device/gpu_busy_percent", "7");
        write("card1/device/hwmon/hwmon3/temp1_input", "30000");
        write("card1/device/power/runtime_status", "suspended");
        write("card2/device/mem_info_vram_total", "none");
        write("card3/device/vendor", "0x8086");
        write("card4/device/mem_info_vram_total", "1");
        write("version", "drm 1.1.0 20060810");

        let asleep = GpuUsage {
            name: "AMD Instinct MI300X".to_owned(),
            utilisation_percent: None,
            memory_used_bytes: None,
            memory_total_bytes: Some(512),
            temperature_celsius: None,
        };
        let busy = GpuUsage {
            name: "AMD GPU 0x73bf".to_owned(),
            utilisation_percent: Some(99.0),
            memory_used_bytes: Some(1_073_741_824),
            memory_total_bytes: Some(17_163_091_968),
            temperature_celsius: Some(67.5),
        };
        let least =
            GpuUsage { name: "AMD GPU".to_owned(), memory_total_bytes: Some(1), ..asleep.clone() };
        assert_eq!(read(folder.path()), [asleep, least, busy]);
        assert_eq!(read(&folder.path().join("nothing")), []);
    }
}
