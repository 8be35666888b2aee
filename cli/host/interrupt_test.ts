import { assertEquals } from "@std/assert";
import { createFakeHost } from "../../tests/cli/fake_host.ts";
import { InterruptHandler } from "./interrupt.ts";

Deno.test("InterruptHandler: the first signal aborts, the second one exits immediately with its own code", () => {
  const host = createFakeHost();
  using interrupt = new InterruptHandler(host);
  assertEquals([interrupt.signal.aborted, interrupt.exitCode], [false, undefined]);
  host.sendSignal("SIGINT");
  assertEquals([interrupt.signal.reason, interrupt.exitCode], ["SIGINT", 130]);
  assertEquals(host.exitCodes, []);
  host.sendSignal("SIGTERM");
  assertEquals(host.exitCodes, [143]);
  assertEquals([interrupt.signal.reason, interrupt.exitCode], ["SIGINT", 130]);
});

Deno.test("InterruptHandler: stops listening when it is disposed of", () => {
  const host = createFakeHost();
  const interrupt = new InterruptHandler(host);
  interrupt[Symbol.dispose]();
  host.sendSignal("SIGINT");
  assertEquals(interrupt.signal.aborted, false);
});
