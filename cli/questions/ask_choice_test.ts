import { assertEquals } from "@std/assert";
import { askChoice } from "./ask_choice.ts";
import type { Choice, QuestionContext } from "./choice.ts";

const NEXT: Choice<"yes" | "always" | "edit" | "no"> = {
  details: [],
  message: "Allow? [y]es / [a]lways / [e]dit / [n]o",
  answers: ["yes", "always", "edit", "no"],
};

/**
 * Asks a question that the first key answers, and then {@linkcode NEXT}. Keys in `early` are typed before it is shown.
 * Returns its answer.
 */
async function answerTwice(
  first: string,
  { early = "", keys, intervalMs = 300 }: {
    readonly early?: string;
    readonly keys: string;
    readonly intervalMs?: number;
  },
): Promise<string | undefined> {
  let time = 0;
  let discarded = "";
  const typed = [first.slice(0, 1), ...keys];
  const output = { write: () => Promise.resolve() };
  const terminal = { columns: 80, rows: 24, messages: output, onRedraw: () => () => {} };
  const context = {
    host: { terminal, env: () => undefined, now: () => time },
    keyboard: { setRaw() {} },
    input: {
      discardEarlier: () => Promise.resolve(discarded),
      readChunk: () => {
        time += intervalMs;
        const key = typed.shift();
        return Promise.resolve(key === undefined ? undefined : new TextEncoder().encode(key));
      },
    },
    signal: new AbortController().signal,
  } as unknown as QuestionContext;
  await askChoice({ details: [], message: "Go on?", answers: [first] }, context);
  discarded = early;
  return await askChoice(NEXT, context);
}

Deno.test("askChoice: the letters of an answer do not answer the next question", async () => {
  assertEquals(await answerTwice("cancel", { keys: "ancel" }), undefined);
  assertEquals(await answerTwice("always", { keys: "lways\r" }), undefined);
  assertEquals(await answerTwice("always", { early: "lw", keys: "ays\r" }), undefined);
  assertEquals(await answerTwice("always", { keys: "ways" }), undefined);
  assertEquals(await answerTwice("yes", { keys: "es\rn" }), "no");
  assertEquals(await answerTwice("hunks", { early: "u", keys: "nks" }), undefined);
});

Deno.test("askChoice: keys that are no part of the earlier answer, or are typed later, are answers", async () => {
  assertEquals(await answerTwice("always", { keys: "a" }), "always");
  assertEquals(await answerTwice("yes", { keys: "y" }), "yes");
  assertEquals(await answerTwice("yes", { keys: "n" }), "no");
  assertEquals(await answerTwice("cancel", { early: "x", keys: "a" }), "always");
  assertEquals(await answerTwice("cancel", { keys: "aa" }), "always");
  assertEquals(await answerTwice("cancel", { keys: "a", intervalMs: 1_000 }), "always");
});

Deno.test("askChoice: the letters of view do not answer the question", async () => {
  const keys = [..."view", undefined];
  const terminal = {
    columns: 80,
    rows: 8,
    messages: { write: () => Promise.resolve() },
    onRedraw: () => () => {},
  };
  const context = {
    host: { terminal, env: () => undefined, now: () => 0 },
    keyboard: { setRaw() {} },
    input: {
      discardEarlier: () => Promise.resolve(""),
      readChunk: () => {
        const key = keys.shift();
        return Promise.resolve(key === undefined ? undefined : new TextEncoder().encode(key));
      },
    },
    signal: new AbortController().signal,
  } as unknown as QuestionContext;
  const details = Array.from({ length: 50 }, (_, index) => ({
    text: `line ${index}`,
    paint: (row: string) => row,
  }));
  assertEquals(await askChoice({ ...NEXT, details }, context), undefined);
});
