import { assertEquals } from "@std/assert";
import type { CustomEvent } from "../events/event.ts";
import { emitPlanEntry, type PlanEntry, toPlanEntry } from "./plan_entry.ts";

const ENTRIES: readonly PlanEntry[] = [
  { type: "plan_created", plan: "# P", steps: ["a", "b"] },
  { type: "plan_created", plan: "# P", steps: [], approvedHash: "00ff" },
  { type: "plan_step", step: 1, state: "failed", note: "no network" },
  { type: "plan_step", step: 0, state: "pending" },
  { type: "plan_mode", active: true },
];

Deno.test("emitPlanEntry() emits a custom event that toPlanEntry() returns as the same entry", () => {
  const events: CustomEvent[] = [];
  const agent = {
    emitCustom: (name: string, data: unknown) => void events.push({ type: "custom", name, data }),
  };
  for (const entry of ENTRIES) emitPlanEntry(agent, entry);
  assertEquals(events.map(toPlanEntry), [...ENTRIES]);
});

Deno.test("toPlanEntry() ignores events of the application, also those of the same name", () => {
  const events: readonly (readonly [string, unknown])[] = [
    ["note", { plan: "# P", steps: [] }],
    ["constructor", {}],
    ["plan_created", { plan: "# P" }],
    ["plan_created", { plan: "# P", steps: [1] }],
    ["plan_created", { plan: "# P", steps: [], tier: "pro" }],
    ["plan_created", { plan: "# P", steps: [], approvedHash: true }],
    ["plan_step", { step: -1, state: "complete" }],
    ["plan_step", { step: 0.5, state: "complete" }],
    ["plan_step", { step: 0, state: "done" }],
    ["plan_step", { step: 0, state: "failed", note: 1 }],
    ["plan_mode", { active: "yes" }],
    ["plan_mode", null],
    ["plan_mode", [true]],
  ];
  const entries = events.map(([name, data]) => toPlanEntry({ type: "custom", name, data }));
  assertEquals(entries, events.map(() => undefined));
});
