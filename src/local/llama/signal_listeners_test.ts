import { assertEquals, assertRejects } from "@std/assert";
import process from "node:process";
import { loadWithoutSignals } from "./signal_listeners.ts";

const SIGNAL = "SIGWINCH";

Deno.test("loadWithoutSignals() removes the listeners that a package adds, and no others", async () => {
  const own = () => {};
  const added = () => {};
  const other = () => {};
  process.on(SIGNAL, own);
  const loaded = await loadWithoutSignals(() => {
    process.on(SIGNAL, added);
    process.on("warning", other);
    return Promise.resolve("loaded");
  });
  assertEquals(loaded, "loaded");
  assertEquals(process.listeners(SIGNAL), [own]);
  assertEquals(process.listeners("warning").includes(other), true);
  process.removeListener(SIGNAL, own);
  process.removeListener("warning", other);
});

Deno.test("loadWithoutSignals() passes the failure of a load on", async () => {
  await assertRejects(() => loadWithoutSignals(() => Promise.reject(new Error("x"))), Error, "x");
});
