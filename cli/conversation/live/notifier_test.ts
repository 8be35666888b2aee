import { assertEquals } from "@std/assert";
import { Notifier } from "./notifier.ts";

Deno.test("Notifier: reports questions and the end of long runs, as configured", () => {
  const asked = { type: "asked", text: "swink asks\x1b]52;c;x\x07" } as const;
  const short = { type: "ended", text: "swink has finished", durationMs: 9_999 } as const;
  const long = { ...short, durationMs: 10_000 };
  const osc9 = new Notifier("osc9");
  assertEquals([asked, short, long].map((event) => osc9.getSequence(event)), [
    "\x1b]9;swink asks\x07",
    undefined,
    "\x1b]9;swink has finished\x07",
  ]);
  assertEquals([asked, short, long].map((event) => new Notifier("bell").getSequence(event)), [
    "\x07",
    undefined,
    "\x07",
  ]);
  assertEquals([asked, long].map((event) => new Notifier("off").getSequence(event)), [
    undefined,
    undefined,
  ]);
});
