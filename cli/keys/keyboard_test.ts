import { assertEquals } from "@std/assert";
import { ManualTimers } from "../../tests/cli/manual_timers.ts";
import type { RawModeOptions } from "../host/terminal.ts";
import type { KeyEvent } from "./key_event.ts";
import { formatKey } from "./key_notation.ts";
import { openKeyboard } from "./keyboard.ts";

interface SetUpOptions {
  readonly keyProtocol?: "kitty" | "modify_other_keys" | "none";
  readonly hasPasteMode?: boolean;
}

async function setUp({ keyProtocol = "none", hasPasteMode = true }: SetUpOptions = {}) {
  const log: string[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const bytes = new ReadableStream<Uint8Array>({
    start(started) {
      controller = started;
    },
  });
  const timers = new ManualTimers();
  const terminal = {
    input: {
      isTerminal: true,
      bytes,
      setRaw: (isRaw: boolean, options?: RawModeOptions) =>
        void log.push(`raw ${isRaw}${options?.hasSignalKeys ? " with signal keys" : ""}`),
      pause: () => void log.push("pause"),
      resume: () => void log.push("resume"),
    },
    output: {
      isTerminal: true,
      closed: new AbortController().signal,
      write: (text: string | Uint8Array) => Promise.resolve(void log.push(JSON.stringify(text))),
    },
    restoreOnExit(text: string) {
      log.push(`on exit ${JSON.stringify(text)}`);
      return { [Symbol.dispose]: () => void log.push("not on exit") };
    },
  };
  const features = { keyProtocol, hasPasteMode };
  const keyboard = await openKeyboard({ terminal, features, startTimer: timers.startTimer });
  return {
    keyboard,
    timers,
    takeLog: () => log.splice(0),
    type: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    close: () => controller?.close(),
    fail: () => controller?.error(new Error("EIO")),
  };
}

function format(events: readonly KeyEvent[] | undefined): string | undefined {
  return events?.map((event) => event.type === "key" ? `<${formatKey(event)}>` : event.text).join(
    "",
  );
}

/** Waits until the callbacks of promises have run. */
async function settle(): Promise<void> {
  for (let count = 0; count < 10; count++) await Promise.resolve();
}

Deno.test("Keyboard: returns the keys that arrive together", async () => {
  const { keyboard, type } = await setUp();
  type("ab\r");
  type("\x1b[200~pasted\x1b[201~");
  assertEquals(format(await keyboard.read()), "ab<enter>");
  assertEquals(format(await keyboard.read()), "pasted");
});

Deno.test("Keyboard: waits for the rest of a sequence, and returns Escape after 50 ms", async () => {
  const { keyboard, timers, type } = await setUp();
  const first = keyboard.read();
  type("\x1b");
  await settle();
  timers.advance(49);
  type("[A");
  assertEquals(format(await first), "<up>");
  const second = keyboard.read();
  type("\x1b");
  await settle();
  timers.advance(50);
  assertEquals(format(await second), "<escape>");
  assertEquals(timers.active, 0);
});

Deno.test("Keyboard: an aborted read keeps the keys for the next one", async () => {
  const { keyboard, type } = await setUp();
  const aborting = new AbortController();
  const aborted = keyboard.read(aborting.signal);
  aborting.abort();
  assertEquals(await aborted, undefined);
  assertEquals(await keyboard.read(aborting.signal), undefined);
  type("x");
  assertEquals(format(await keyboard.read()), "x");
});

Deno.test("Keyboard: returns undefined when the terminal is closed", async () => {
  for (const end of ["close", "fail"] as const) {
    const { keyboard, ...terminal } = await setUp();
    terminal[end]();
    assertEquals(await keyboard.read(), undefined);
  }
});

Deno.test("Keyboard: Enter that was typed before the raw mode ends the line, and no later line feed does", async () => {
  for (
    const [typed, expected] of [
      ["swink, go\n", "swink, go<enter>"],
      ["one\ntwo\n", "one<ctrl+j>two<ctrl+j>"],
      ["\n", "<ctrl+j>"],
    ] as const
  ) {
    const { keyboard, type } = await setUp();
    type(typed);
    assertEquals(format(await keyboard.read()), expected);
    type("later\n");
    assertEquals(format(await keyboard.read()), "later<ctrl+j>");
  }
});

Deno.test("Keyboard: discard() drops what was typed before, until no more arrives", async () => {
  const { keyboard, timers, type } = await setUp();
  type("y\r");
  const discarding = keyboard.discard();
  await settle();
  timers.advance(150);
  type("y\x1b[");
  await settle();
  timers.advance(199);
  await settle();
  timers.advance(1);
  const discarded = await discarding;
  assertEquals(format(discarded.filter(({ type }) => type === "character")), "yy");
  type("An");
  assertEquals(format(await keyboard.read()), "An");
});

Deno.test("Keyboard: enters raw mode without signals, and restores the terminal", async () => {
  const protocols = {
    none: ["", ""],
    kitty: ["\\u001b[>1u", "\\u001b[<u"],
    modify_other_keys: ["\\u001b[>4;1m", "\\u001b[>4m"],
  };
  for (const keyProtocol of ["none", "kitty", "modify_other_keys"] as const) {
    const [start, end] = protocols[keyProtocol];
    const { keyboard, takeLog } = await setUp({ keyProtocol });
    const entered = [
      `on exit "\\u001b[?2026l\\u001b[?25h\\u001b[m${end}\\u001b[?2004l"`,
      "raw true with signal keys",
      "resume",
      `"\\u001b[?2004h${start}"`,
    ];
    const left = ["pause", "not on exit", `"${end}\\u001b[?2004l"`, "raw false"];
    assertEquals(takeLog(), entered);
    await keyboard.suspend();
    assertEquals(takeLog(), left);
    await keyboard.resume();
    assertEquals(takeLog(), entered);
    await keyboard[Symbol.asyncDispose]();
    assertEquals(takeLog(), left);
    await keyboard[Symbol.asyncDispose]();
    assertEquals(takeLog(), []);
  }
});
