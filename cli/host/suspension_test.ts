import { assertEquals } from "@std/assert";
import { listenForSuspension } from "./suspension.ts";

/** A terminal whose stop ends when a test continues it. */
function createStoppableTerminal({ hasJobControl = true } = {}) {
  const log: string[] = [];
  const suspendListeners = new Set<() => void>();
  const redrawListeners = new Set<(cause: "resized" | "continued") => void>();
  let onContinue: (() => void) | undefined;
  return {
    log,
    terminal: {
      onSuspend(listener: () => void) {
        suspendListeners.add(listener);
        return () => suspendListeners.delete(listener);
      },
      onRedraw(listener: (cause: "resized" | "continued") => void) {
        redrawListeners.add(listener);
        return () => redrawListeners.delete(listener);
      },
      async stop() {
        log.push("stop");
        if (!hasJobControl) return false;
        await new Promise<void>((resolve) => onContinue = resolve);
        return true;
      },
    },
    suspend: () => Promise.resolve(void log.push("suspend")),
    resume: () => Promise.resolve(void log.push("resume")),
    sendSuspend: () => suspendListeners.forEach((listener) => listener()),
    sendContinue(isSignalFirst: boolean) {
      if (!isSignalFirst) onContinue?.();
      redrawListeners.forEach((listener) => listener("continued"));
      if (isSignalFirst) onContinue?.();
    },
    sendResize: () => redrawListeners.forEach((listener) => listener("resized")),
    countListeners: () => suspendListeners.size + redrawListeners.size,
  };
}

async function settle(): Promise<void> {
  for (let count = 0; count < 20; count++) await Promise.resolve();
}

Deno.test("listenForSuspension(): leaves the terminal before the stop and takes it back once after it", async () => {
  for (const isSignalFirst of [true, false]) {
    const fake = createStoppableTerminal();
    const listening = listenForSuspension(fake);
    for (let count = 0; count < 2; count++) {
      fake.sendSuspend();
      fake.sendSuspend();
      await settle();
      fake.sendContinue(isSignalFirst);
      await settle();
      assertEquals(fake.log.splice(0), ["suspend", "stop", "resume"]);
    }
    listening[Symbol.dispose]();
    assertEquals(fake.countListeners(), 0);
  }
});

Deno.test("listenForSuspension(): takes the terminal back at once without a shell that continues the program", async () => {
  const fake = createStoppableTerminal({ hasJobControl: false });
  using _listening = listenForSuspension(fake);
  fake.sendSuspend();
  await settle();
  assertEquals(fake.log.splice(0), ["suspend", "stop", "resume"]);
  fake.sendContinue(true);
  assertEquals(fake.log.splice(0), ["resume"], "a later stop by SIGSTOP");
});

Deno.test("listenForSuspension(): takes the terminal back after a stop that was not announced", () => {
  const fake = createStoppableTerminal();
  using _listening = listenForSuspension(fake);
  fake.sendResize();
  assertEquals(fake.log, []);
  fake.sendContinue(true);
  assertEquals(fake.log, ["resume"]);
});
