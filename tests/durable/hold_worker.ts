/**
 * A worker that starts a run and never ends its step.
 *
 * @module
 */

import { DbosEngine } from "../../src/durable/dbos/mod.ts";

if (import.meta.main) {
  const [url = "", id = "", name] = Deno.args;
  const engine = new DbosEngine({ databaseUrl: url, name });
  const hold = engine.register("hold", async (steps) => {
    await steps.run("before", () => 1);
    await steps.publish("before");
    await steps.run("hold", () => {
      console.log("holding");
      return new Promise<never>(() => {});
    });
  });
  await engine.start();
  await hold.start(null, { id });
}
