/**
 * Measures the first tool calls of a process: the validator must not make them slower than the later ones.
 *
 * Each run is a new process that measures a cold run and then a warm one. The median of all processes is printed, and
 * its ratio to that of a minimal loop over the same stream, whose processes alternate with those of the agent.
 *
 * @module
 */

import { choosePackages } from "../scripts/packages.ts";
import { median, printReport, type Row } from "./report.ts";

const RUNS = 15;

const SCENARIOS = ["call", "turns", "arguments", "fanout", "schemas", "answers"] as const;
type Scenario = typeof SCENARIOS[number];

/** The scenarios that are compared with a minimal loop. */
const COMPARED = ["turns", "arguments", "fanout"] as const;
type Compared = typeof COMPARED[number];

/** Milliseconds of the scenario in one process; for `schemas` and `answers`, megabytes of the heap before and after. */
interface Measurement {
  readonly cold: number;
  readonly warm: number;
}

const root = new URL("../", import.meta.url);

async function measure(config: string, ...scenario: string[]): Promise<Measurement> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-lock", "--no-check", "--v8-flags=--expose-gc", "-c", config],
      ...["bench/first_call_process.ts", ...scenario],
    ],
    cwd: root,
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`The scenario ${scenario.join(" ")} failed`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function measureAll(): Promise<Row[]> {
  const { config } = await choosePackages();
  const results = new Map<Scenario, Measurement[]>(SCENARIOS.map((name) => [name, []]));
  const loops = new Map<Compared, Measurement[]>(COMPARED.map((name) => [name, []]));
  for (let run = 0; run < RUNS; run++) {
    for (const scenario of COMPARED) {
      loops.get(scenario)?.push(await measure(config, scenario, "minimal"));
    }
    for (const scenario of SCENARIOS) {
      if ((scenario === "schemas" || scenario === "answers") && run > 0) continue;
      results.get(scenario)?.push(await measure(config, scenario));
    }
  }
  const select = (scenario: Scenario, read: (measurement: Measurement) => number): number =>
    median((results.get(scenario) ?? []).map(read));
  const createRows = (name: string, scenario: Compared): Row[] =>
    (["cold", "warm"] as const).map((phase) => {
      const agent = select(scenario, (measurement) => measurement[phase]);
      const loop = median((loops.get(scenario) ?? []).map((measurement) => measurement[phase]));
      return [
        `${name}, ${phase}`,
        `${agent.toFixed(1)} ms`,
        `${(agent / loop).toFixed(1)} × loop`,
        "–",
      ];
    });
  const overhead = select("call", ({ cold, warm }) => cold - warm);
  const createHeapRow = (name: string, scenario: Scenario): Row => {
    const growth = select(scenario, ({ cold, warm }) => warm - cold);
    return [name, `+ ${growth.toFixed(1)} MB`, "", "≤ 2 MB"];
  };
  return [
    ["first tool call", `+ ${overhead.toFixed(1)} ms`, "over a warm one", "≤ 15 ms"],
    ...createRows("100 turns with one call", "turns"),
    ...createRows("arguments, 1 MB in chunks of 20 characters", "arguments"),
    ...createRows("100 concurrent calls of 1 ms", "fanout"),
    createHeapRow("heap over 20,000 agents, each with a schema of its own", "schemas"),
    createHeapRow("heap over 20,000 structured answers of one schema", "answers"),
  ];
}

if (import.meta.main) printReport("First tool calls", await measureAll());
