// SPDX-License-Identifier: Apache-2.0
//! The energy counters of the kernel module of jetwatt: files of its hwmon device.
//!
//! `energy1_input` is the total; the others are rails. A rail may supply another one, so the rails
//! must not be added. The values are in microjoules since the module was loaded, and change at most
//! ten times a second. The module registers its hwmon device again, possibly with another number,
//! when it finds further rails.
//!
//! This file needs the standard library of Rust 1.63 only, so its tests run without Alumet:
//! `rustc --edition 2021 --test counters.rs`.

use std::{
    fs, io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// Name of the hwmon device.
const DEVICE: &str = "jetwatt";
/// Number of the total's files.
const TOTAL: u32 = 1;
/// The number of the rail with the id 0.
const FIRST_RAIL: u32 = 2;
const JOULES_PER_COUNT: f64 = 1e-6;

/// What a counter counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meter {
    /// The total. The label says what it covers: "module total", "board total" or "partial sum".
    Total(String),
    /// One rail, with its label.
    Rail(String),
}

#[derive(Debug)]
struct Counter {
    meter: Meter,
    path: PathBuf,
    file: fs::File,
    /// Value of the previous poll; `None` before the first one and after a reset.
    last: Option<u64>,
}

/// All energy counters of the hwmon device, the total first.
#[derive(Debug)]
pub struct Counters {
    sysfs: PathBuf,
    counters: Vec<Counter>,
}

/// Returns the error "WHAT PATH: WHY".
fn error(what: &str, path: &Path, why: impl ToString) -> io::Error {
    let text = format!("{what} {}: {}", path.display(), why.to_string());
    io::Error::new(io::ErrorKind::Other, text)
}

fn text(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path).map_err(|e| error("cannot read", path, e))?;
    Ok(text.trim().to_owned())
}

/// Returns the directory of the hwmon device.
fn device(sysfs: &Path) -> io::Result<PathBuf> {
    let class = sysfs.join("class/hwmon");
    let entries = fs::read_dir(&class).map_err(|e| error("cannot list", &class, e))?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|dir| text(&dir.join("name")).map_or(false, |name| name == DEVICE))
        .ok_or_else(|| {
            error(
                "no hwmon device jetwatt in",
                &class,
                "load the kernel module",
            )
        })
}

/// Returns N if `name` is "energyN_input".
fn number(name: &str) -> Option<u32> {
    name.strip_prefix("energy")?
        .strip_suffix("_input")?
        .parse()
        .ok()
}

impl Counter {
    fn open(dir: &Path, n: u32) -> io::Result<Counter> {
        let label = text(&dir.join(format!("energy{n}_label")))?;
        let meter = if n == TOTAL {
            Meter::Total(label)
        } else {
            Meter::Rail(label)
        };
        let path = dir.join(format!("energy{n}_input"));
        let file = fs::File::open(&path).map_err(|e| error("cannot open", &path, e))?;
        Ok(Counter {
            meter,
            path,
            file,
            last: None,
        })
    }

    fn read(&self) -> io::Result<u64> {
        let mut buf = [0; 32];
        let n = self
            .file
            .read_at(&mut buf, 0)
            .map_err(|e| error("cannot read", &self.path, e))?;
        let number = String::from_utf8_lossy(&buf[..n]);
        number
            .trim()
            .parse()
            .map_err(|e| error("no number in", &self.path, e))
    }

    /// Returns the joules since the previous poll, or `None` if they are unknown.
    fn advance(&mut self, value: u64) -> Option<f64> {
        let last = self.last.replace(value)?;
        Some(value.checked_sub(last)? as f64 * JOULES_PER_COUNT)
    }
}

fn open(sysfs: &Path) -> io::Result<Vec<Counter>> {
    let dir = device(sysfs)?;
    let mut numbers: Vec<u32> = fs::read_dir(&dir)?
        .filter_map(|entry| number(entry.ok()?.file_name().to_str()?))
        .collect();
    numbers.sort_unstable();
    if numbers.first() != Some(&TOTAL) {
        return Err(error(
            "no energy1_input in",
            &dir,
            "see `sudo jetwatt doctor`",
        ));
    }
    let mut counters: Vec<Counter> = Vec::with_capacity(numbers.len());
    for n in numbers {
        let mut counter = Counter::open(&dir, n)?;
        // Two rails with one label would look like one rail. As in libjetwatt, the id of the rail is
        // appended.
        if counters.iter().any(|c| c.meter == counter.meter) {
            if let Meter::Rail(label) = &mut counter.meter {
                label.push_str(&format!(" ({})", n - FIRST_RAIL));
            }
        }
        counters.push(counter);
    }
    Ok(counters)
}

impl Counters {
    /// Finds and opens the counters. `sysfs` is where sysfs is mounted, usually `/sys`.
    pub fn open(sysfs: &Path) -> io::Result<Counters> {
        let counters = open(sysfs)?;
        Ok(Counters {
            sysfs: sysfs.to_owned(),
            counters,
        })
    }

    /// Returns what each counter counts.
    pub fn meters(&self) -> impl Iterator<Item = &Meter> {
        self.counters.iter().map(|c| &c.meter)
    }

    /// Returns the energy since the previous poll, in joules, of each counter that has a value.
    ///
    /// No counter has a value in the first poll, in the first one after the device was
    /// registered again, and in the first one after [`forget`](Self::forget). A counter with a
    /// lower value than before was reset and has none.
    ///
    /// # Errors
    ///
    /// The device is missing. A later poll finds it if it was registered again.
    pub fn poll(&mut self) -> io::Result<Vec<(&Meter, f64)>> {
        let values = match self.read() {
            Ok(values) => values,
            // Files of a device that was removed cannot be read any more.
            Err(_) => {
                self.counters = open(&self.sysfs)?;
                self.read()?
            }
        };
        let mut energies = Vec::with_capacity(values.len());
        for (counter, value) in self.counters.iter_mut().zip(values) {
            if let Some(joules) = counter.advance(value) {
                energies.push((&counter.meter, joules));
            }
        }
        Ok(energies)
    }

    fn read(&self) -> io::Result<Vec<u64>> {
        self.counters.iter().map(Counter::read).collect()
    }

    /// Forgets the values of the previous poll.
    pub fn forget(&mut self) {
        for counter in &mut self.counters {
            counter.last = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with the files of the kernel module; it is removed when the test ends.
    struct Sysfs(PathBuf);

    impl Sysfs {
        /// `test`: a name that no other test uses.
        fn new(test: &str) -> Sysfs {
            let name = format!("jetwatt-counters-{}-{test}", std::process::id());
            let sysfs = Sysfs(std::env::temp_dir().join(name));
            sysfs.put("hwmon1/name", "ina3221");
            sysfs.put("hwmon1/energy1_input", "7");
            sysfs
        }

        /// Like `new`, with a hwmon device of two rails.
        fn with_rails(test: &str) -> Sysfs {
            let sysfs = Sysfs::new(test);
            sysfs.device("hwmon3", &["module total", "VDD_GPU_SOC", "VDD_CPU_CV"]);
            sysfs
        }

        fn put(&self, file: &str, value: &str) {
            let path = self.0.join("class/hwmon").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{value}\n")).unwrap();
        }

        /// Creates a hwmon device of the module, whose counters are all 1 J.
        fn device(&self, name: &str, labels: &[&str]) {
            self.put(&format!("{name}/name"), DEVICE);
            for (i, label) in labels.iter().enumerate() {
                self.put(&format!("{name}/energy{}_label", i + 1), label);
            }
            self.count(name, &vec![1_000_000; labels.len()]);
        }

        fn count(&self, name: &str, microjoules: &[u64]) {
            for (i, value) in microjoules.iter().enumerate() {
                self.put(&format!("{name}/energy{}_input", i + 1), &value.to_string());
            }
        }

        /// Removes a device; files that are still open have no value any more.
        fn remove(&self, name: &str) {
            let dir = self.0.join("class/hwmon").join(name);
            for entry in fs::read_dir(&dir).unwrap() {
                fs::write(entry.unwrap().path(), "").unwrap();
            }
            fs::remove_dir_all(dir).unwrap();
        }

        fn open(&self) -> io::Result<Counters> {
            Counters::open(&self.0)
        }
    }

    impl Drop for Sysfs {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn total(joules: f64) -> (Meter, f64) {
        (Meter::Total("module total".to_owned()), joules)
    }

    fn rail(label: &str, joules: f64) -> (Meter, f64) {
        (Meter::Rail(label.to_owned()), joules)
    }

    fn poll(counters: &mut Counters) -> Vec<(Meter, f64)> {
        let energies = counters.poll().unwrap();
        energies
            .into_iter()
            .map(|(meter, joules)| (meter.clone(), joules))
            .collect()
    }

    #[test]
    fn energy_since_the_previous_poll() {
        let sysfs = Sysfs::with_rails("energy");
        let mut counters = sysfs.open().unwrap();
        assert_eq!(poll(&mut counters), []);
        sysfs.count("hwmon3", &[19_000_000, 9_000_000, 1_500_000]);
        let cpu = rail("VDD_CPU_CV", 0.5);
        assert_eq!(
            poll(&mut counters),
            [total(18.0), rail("VDD_GPU_SOC", 8.0), cpu]
        );
        assert_eq!(poll(&mut counters)[0], total(0.0));
    }

    #[test]
    fn counters_are_in_the_order_of_their_numbers() {
        let sysfs = Sysfs::new("order");
        let labels: Vec<String> = (1..=12).map(|n| format!("L{n}")).collect();
        sysfs.device(
            "hwmon0",
            &labels.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let counters = sysfs.open().unwrap();
        let meters: Vec<&Meter> = counters.meters().collect();
        assert_eq!(*meters[0], Meter::Total("L1".to_owned()));
        assert_eq!(*meters[1], Meter::Rail("L2".to_owned()));
        assert_eq!(*meters[11], Meter::Rail("L12".to_owned()));
    }

    #[test]
    fn a_counter_that_was_reset_has_no_value() {
        let sysfs = Sysfs::with_rails("reset");
        let mut counters = sysfs.open().unwrap();
        poll(&mut counters);
        sysfs.count("hwmon3", &[999_999, 2_000_000, 2_000_000]);
        assert_eq!(
            poll(&mut counters),
            [rail("VDD_GPU_SOC", 1.0), rail("VDD_CPU_CV", 1.0)]
        );
        sysfs.count("hwmon3", &[1_999_999, 2_000_000, 2_000_000]);
        assert_eq!(poll(&mut counters)[0], total(1.0));
    }

    #[test]
    fn a_device_that_was_registered_again_has_no_value_at_first() {
        let sysfs = Sysfs::with_rails("again");
        let mut counters = sysfs.open().unwrap();
        poll(&mut counters);
        sysfs.remove("hwmon3");
        sysfs.device(
            "hwmon4",
            &["module total", "VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"],
        );
        sysfs.count("hwmon4", &[50_000_000; 4]);
        assert_eq!(poll(&mut counters), []);
        sysfs.count("hwmon4", &[51_000_000; 4]);
        assert_eq!(poll(&mut counters).len(), 4);
        assert_eq!(poll(&mut counters)[3], rail("VIN_SYS_5V0", 0.0));
    }

    #[test]
    fn polls_fail_until_the_module_is_loaded_again() {
        let sysfs = Sysfs::with_rails("unload");
        let mut counters = sysfs.open().unwrap();
        poll(&mut counters);
        sysfs.remove("hwmon3");
        for _ in 0..2 {
            let e = counters.poll().unwrap_err().to_string();
            assert!(e.contains("no hwmon device jetwatt"), "{e}");
        }
        sysfs.device("hwmon3", &["board total"]);
        assert_eq!(poll(&mut counters), []);
        sysfs.count("hwmon3", &[3_000_000]);
        assert_eq!(
            poll(&mut counters),
            [(Meter::Total("board total".to_owned()), 2.0)]
        );
    }

    #[test]
    fn a_pause_is_not_counted() {
        let sysfs = Sysfs::with_rails("pause");
        let mut counters = sysfs.open().unwrap();
        poll(&mut counters);
        sysfs.count("hwmon3", &[9_000_000; 3]);
        counters.forget();
        assert_eq!(poll(&mut counters), []);
    }

    #[test]
    fn rails_with_one_label_are_told_apart() {
        let sysfs = Sysfs::new("labels");
        sysfs.device("hwmon0", &["module total", "VDD", "VDD"]);
        let mut counters = sysfs.open().unwrap();
        poll(&mut counters);
        assert_eq!(
            poll(&mut counters)[1..],
            [rail("VDD", 0.0), rail("VDD (1)", 0.0)]
        );
    }

    #[test]
    fn errors_say_what_is_missing() {
        let sysfs = Sysfs::new("missing");
        assert!(
            sysfs
                .open()
                .unwrap_err()
                .to_string()
                .contains("no hwmon device jetwatt in")
        );
        sysfs.put("hwmon3/name", DEVICE);
        assert!(
            sysfs
                .open()
                .unwrap_err()
                .to_string()
                .contains("no energy1_input in")
        );
        sysfs.put("hwmon3/energy1_input", "1");
        assert!(
            sysfs
                .open()
                .unwrap_err()
                .to_string()
                .contains("energy1_label")
        );
    }

    #[test]
    fn files_of_other_quantities_are_ignored() {
        assert_eq!(number("energy12_input"), Some(12));
        for name in [
            "energy_input",
            "energy1_label",
            "power1_input",
            "energyx_input",
        ] {
            assert_eq!(number(name), None, "{name}");
        }
    }
}
