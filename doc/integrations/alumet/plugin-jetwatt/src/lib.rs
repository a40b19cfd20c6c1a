// SPDX-License-Identifier: Apache-2.0
//! Alumet plugin: the energy of NVIDIA Jetson boards, from the kernel module of jetwatt.

mod counters;

use std::{path::PathBuf, time::Duration};

use alumet::{
    measurement::{MeasurementAccumulator, MeasurementPoint, Timestamp},
    metrics::TypedMetricId,
    pipeline::{
        Source,
        elements::{
            error::PollError,
            source::{error::PollRetry, trigger::TriggerSpec},
        },
    },
    plugin::{
        AlumetPluginStart, ConfigTable,
        rust::{AlumetPlugin, deserialize_config, serialize_config},
    },
    resources::{Resource, ResourceConsumer},
    units::Unit,
};
use anyhow::Context;
use serde::{Deserialize, Serialize};

use counters::{Counters, Meter};

pub struct JetwattPlugin {
    config: Config,
}

#[derive(Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Interval between two measurements. The counters change at most ten times a second.
    #[serde(with = "humantime_serde")]
    poll_interval: Duration,

    /// Interval between two flushes of the measurements.
    #[serde(with = "humantime_serde")]
    flush_interval: Duration,

    /// Whether the rails are measured too, not only the total.
    rails: bool,

    /// Where sysfs is mounted.
    sysfs: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            poll_interval: Duration::from_secs(1),
            flush_interval: Duration::from_secs(5),
            rails: true,
            sysfs: PathBuf::from("/sys"),
        }
    }
}

impl AlumetPlugin for JetwattPlugin {
    fn name() -> &'static str {
        "jetwatt"
    }

    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn default_config() -> anyhow::Result<Option<ConfigTable>> {
        serialize_config(Config::default()).map(Some)
    }

    fn init(config: ConfigTable) -> anyhow::Result<Box<Self>> {
        let config = deserialize_config(config)?;
        Ok(Box::new(JetwattPlugin { config }))
    }

    fn start(&mut self, alumet: &mut AlumetPluginStart) -> anyhow::Result<()> {
        let counters = Counters::open(&self.config.sysfs)
            .context("cannot use the energy counters of the kernel module jetwatt")?;
        for meter in counters.meters() {
            log::debug!("energy counter found: {meter:?}");
        }
        // Two metrics, because a sum over one metric must not contain an energy twice.
        let total = alumet.create_metric(
            "jetwatt_consumed_energy",
            Unit::Joule,
            "Energy of the module or board since the previous measurement",
        )?;
        let rail = alumet.create_metric(
            "jetwatt_rail_energy",
            Unit::Joule,
            "Energy of a rail since the previous measurement; rails must not be added",
        )?;
        let rail = self.config.rails.then_some(rail);
        let trigger = TriggerSpec::builder(self.config.poll_interval)
            .flush_interval(self.config.flush_interval)
            .build()?;
        alumet.add_source(
            "energy",
            Box::new(JetwattSource {
                counters,
                total,
                rail,
            }),
            trigger,
        )?;
        Ok(())
    }

    fn stop(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

struct JetwattSource {
    counters: Counters,
    total: TypedMetricId<f64>,
    /// `None`: the rails are not measured.
    rail: Option<TypedMetricId<f64>>,
}

impl Source for JetwattSource {
    fn poll(&mut self, out: &mut MeasurementAccumulator, at: Timestamp) -> Result<(), PollError> {
        let consumer = ResourceConsumer::LocalMachine;
        // The device is missing while the module is unloaded.
        for (meter, joules) in self.counters.poll().retry_poll()? {
            let point = match (meter, self.rail) {
                (Meter::Total(scope), _) => {
                    let resource = Resource::LocalMachine;
                    MeasurementPoint::new(at, self.total, resource, consumer.clone(), joules)
                        .with_attr("scope", scope.clone())
                }
                (Meter::Rail(label), Some(metric)) => {
                    let resource = Resource::custom("rail", label.clone());
                    MeasurementPoint::new(at, metric, resource, consumer.clone(), joules)
                }
                (Meter::Rail(_), None) => continue,
            };
            out.push(point);
        }
        Ok(())
    }

    fn reset(&mut self) -> anyhow::Result<()> {
        self.counters.forget();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use alumet::{
        agent::{
            self,
            plugin::{PluginInfo, PluginSet},
        },
        pipeline::naming::SourceName,
        plugin::PluginMetadata,
        test::{RuntimeExpectations, StartupExpectations},
    };

    use super::*;

    /// Starts an agent with this plugin on a directory with a total of 1 J and a rail of 1 J. The
    /// first poll has no value. Before the second one, 18 J and 8 J are added; the values of the
    /// second poll must be `expected`: metric, resource, joules.
    fn poll_twice(test: &str, rails: bool, expected: &'static [(&str, &str, f64)]) {
        let name = format!("jetwatt-plugin-{}-{test}", std::process::id());
        let sysfs = std::env::temp_dir().join(name);
        let dir = sysfs.join("class/hwmon/hwmon3");
        fs::create_dir_all(&dir).unwrap();
        for (file, text) in [
            ("name", "jetwatt\n"),
            ("energy1_label", "module total\n"),
            ("energy1_input", "1000000\n"),
            ("energy2_label", "VDD_GPU_SOC\n"),
            ("energy2_input", "1000000\n"),
        ] {
            fs::write(dir.join(file), text).unwrap();
        }
        let config = Config {
            rails,
            sysfs: sysfs.clone(),
            ..Config::default()
        };
        let mut plugins = PluginSet::new();
        plugins.add_plugin(PluginInfo {
            metadata: PluginMetadata::from_static::<JetwattPlugin>(),
            enabled: true,
            config: Some(serialize_config(config).unwrap().0),
        });
        let startup = StartupExpectations::new()
            .expect_metric::<f64>("jetwatt_consumed_energy", Unit::Joule)
            .expect_metric::<f64>("jetwatt_rail_energy", Unit::Joule)
            .expect_source("jetwatt", "energy");
        let source = || SourceName::from_str("jetwatt", "energy");
        let runtime = RuntimeExpectations::new()
            .test_source(
                source(),
                || {},
                |out| assert!(out.measurements().is_empty()),
            )
            .test_source(
                source(),
                move || {
                    fs::write(dir.join("energy1_input"), "19000000\n").unwrap();
                    fs::write(dir.join("energy2_input"), "9000000\n").unwrap();
                },
                |out| {
                    let measured: Vec<_> = out
                        .measurements()
                        .iter()
                        .map(|point| {
                            let metric = out.metrics().by_id(&point.metric).unwrap();
                            let resource = point.resource.id_string().unwrap_or_default();
                            (metric.name.clone(), resource, point.value.as_f64())
                        })
                        .collect();
                    let expected: Vec<_> = expected
                        .iter()
                        .map(|(metric, resource, joules)| {
                            (metric.to_string(), resource.to_string(), *joules)
                        })
                        .collect();
                    assert_eq!(measured, expected);
                },
            );
        let agent = agent::Builder::new(plugins)
            .with_expectations(startup)
            .with_expectations(runtime)
            .build_and_start()
            .unwrap();
        agent.wait_for_shutdown(Duration::from_secs(5)).unwrap();
        fs::remove_dir_all(sysfs).unwrap();
    }

    #[test]
    fn total_and_rails() {
        let expected = &[
            ("jetwatt_consumed_energy", "", 18.0),
            ("jetwatt_rail_energy", "VDD_GPU_SOC", 8.0),
        ];
        poll_twice("rails", true, expected);
    }

    #[test]
    fn total_only() {
        poll_twice("total", false, &[("jetwatt_consumed_energy", "", 18.0)]);
    }
}
