// SPDX-License-Identifier: Apache-2.0

// Runs the power monitor of Kepler, without its exporters, GPU meters and Kubernetes. After each
// of the monitor's collections, prints a line: the time in ns (CLOCK_REALTIME) and, for each zone
// of the node, its name, energy in uJ and power in uW. Ends after a number of collections.
//
//	kepler CONFIGURATION COLLECTIONS
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"github.com/sustainable-computing-io/kepler/config"
	"github.com/sustainable-computing-io/kepler/internal/device"
	"github.com/sustainable-computing-io/kepler/internal/monitor"
	"github.com/sustainable-computing-io/kepler/internal/resource"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	cfg, err := config.FromFile(os.Args[1])
	fail(err)
	collections, err := strconv.Atoi(os.Args[2])
	fail(err)
	cfg.ApplyCpuMeterDeprecations(log)
	meter, err := device.CreateCPUMeter(log, cfg)
	fail(err)
	informer, err := resource.NewInformer(resource.WithLogger(log),
		resource.WithProcFSPath(cfg.Host.ProcFS))
	fail(err)
	fail(informer.Init())
	pm := monitor.NewPowerMonitor(meter, monitor.WithLogger(log),
		monitor.WithResourceInformer(informer), monitor.WithInterval(cfg.Monitor.Interval),
		monitor.WithMaxStaleness(cfg.Monitor.Staleness))
	fail(pm.Init())
	<-pm.DataChannel() // Init signals that the zones are known
	go pm.Run(context.Background())
	for i := 0; i < collections; i++ {
		<-pm.DataChannel()
		snapshot, err := pm.Snapshot()
		fail(err)
		fmt.Print(snapshot.Node.Timestamp.UnixNano())
		for zone, usage := range snapshot.Node.Zones {
			fmt.Printf(" %s %d %.0f", zone.Name(), usage.EnergyTotal.MicroJoules(), usage.Power.MicroWatts())
		}
		fmt.Println()
	}
}
