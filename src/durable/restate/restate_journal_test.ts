import { withDeadline } from "../../../tests/deadline.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { RunEvents } from "../events/run_events.ts";
import { DetachedError } from "../steps/step_journal.ts";
import { StepTracker } from "../steps/step_tracker.ts";
import { RestateJournal } from "./restate_journal.ts";
import type { RestateContext, RestatePackage } from "./restate_package.ts";

Deno.test("RestateJournal: a step that cannot be executed by this process is left to another one", async () => {
  const never = Object.assign(new Promise<never>(() => {}), { map: () => never });
  const context = {
    key: "run",
    run: (_name: string, action: () => Promise<unknown>) => {
      void action();
      return never;
    },
  };
  const tracker = new StepTracker();
  const journal = new RestateJournal(context as unknown as RestateContext, {
    ...{ startedAt: 0, bidirectional: true, tracker },
    events: {} as RunEvents,
    restate: {} as RestatePackage,
  });
  const detached = createDeferred<void>();
  tracker.detached.addEventListener("abort", () => detached.resolve());
  void journal.step("pay", () => Promise.reject(new DetachedError("The engine was closed")));
  await withDeadline(detached.promise);
});
