import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { PLAN_STEP_STATES } from "../../core/sessions/plan_entry.ts";
import { type StepChange, StepProgress } from "./step_progress.ts";

type Case = readonly [
  readonly StepProgress["states"][number][],
  StepChange,
  string,
];

const CASES: readonly Case[] = [
  [["pending"], { step: 0, state: "in_progress" }, "changed"],
  [["failed"], { step: 0, state: "in_progress" }, "changed"],
  [["in_progress"], { step: 0, state: "in_progress" }, "unchanged"],
  [["in_progress"], { step: 0, state: "complete" }, "changed"],
  [["complete"], { step: 0, state: "complete" }, "unchanged"],
  [["pending"], { step: 0, state: "failed", note: "no network" }, "changed"],
  [["pending"], { step: 0, state: "failed" }, "A step that has failed needs a note"],
  [["pending"], { step: 0, state: "failed", note: " " }, "A step that has failed needs a note"],
  [
    ["pending"],
    { step: 0, state: "complete" },
    "Step 1 was not started: set it to in_progress first",
  ],
  [
    ["failed"],
    { step: 0, state: "complete" },
    "Step 1 was not started: set it to in_progress first",
  ],
  [["complete"], { step: 0, state: "in_progress" }, "Step 1 is done and stays so"],
  [
    ["complete", "pending"],
    { step: 0, state: "failed", note: "x" },
    "Step 1 is done and stays so: continue with step 2",
  ],
  [
    ["failed", "pending"],
    { step: 1, state: "in_progress" },
    "Step 2 comes after step 1, which is failed: do the steps in order",
  ],
  [
    ["pending", "pending"],
    { step: 1, state: "in_progress" },
    "Step 2 comes after step 1, which is open: do the steps in order",
  ],
  [["pending"], { step: 1, state: "in_progress" }, "The plan has no step 2: its steps are 1 to 1"],
  [["pending"], { step: -1, state: "in_progress" }, "The plan has no step 0: its steps are 1 to 1"],
  [
    ["pending"],
    { step: 0.5, state: "in_progress" },
    "The plan has no step 1.5: its steps are 1 to 1",
  ],
];

Deno.test("StepProgress: changes the first step that is not done, in the order open, in progress, done or failed", () => {
  for (const [states, change, expected] of CASES) {
    const progress = new StepProgress(states);
    const update = progress.update(change);
    assertEquals(update.type === "refused" ? update.reason : update.type, expected);
    const changed = states.map((state, step) => step === change.step ? change.state : state);
    assertEquals(progress.states, update.type === "changed" ? changed : states);
  }
});

Deno.test("StepProgress: done steps stay done, and no step begins before those in front of it, for any changes", () => {
  const arbitraryChange = fc.record({
    step: fc.integer({ min: -1, max: 4 }),
    state: fc.constantFrom("in_progress", "complete", "failed"),
    note: fc.constantFrom(undefined, "", "why"),
  });
  fc.assert(fc.property(
    fc.array(fc.constantFrom(...PLAN_STEP_STATES), { minLength: 1, maxLength: 4 }),
    fc.array(arbitraryChange, { maxLength: 12 }),
    (states, changes) => {
      const progress = new StepProgress(states);
      for (const change of changes) {
        const { states: before, current } = progress;
        const { type } = progress.update(change as StepChange);
        progress.states.forEach((state, step) => {
          if (state === before[step]) return;
          assertEquals([type, step, before[step] === "complete"], ["changed", current, false]);
        });
      }
    },
  ));
});
