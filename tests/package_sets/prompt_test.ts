/**
 * The behaviour of `@cliffy/prompt` that the program relies on, for JSR's package and the one in `scripts/offline/`.
 *
 * @module
 */

import { Input } from "@cliffy/prompt/input";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { toPlainText } from "../../cli/render/plain_text.ts";

/** Asks for "yes" or "no" and presses keys. Returns the value and the screen without escape sequences. */
async function prompt(...keys: string[]): Promise<{ value: string; screen: string }> {
  const screen = createScreen();
  const value = await Input.prompt({ ...createOptions(keys), writer: screen });
  return { value, screen: toPlainText(screen.text) };
}

function createOptions(keys: string[]) {
  return {
    message: "Continue?",
    indent: "  ",
    prefix: "" as const,
    validate: (value: string): true | string => /^(yes|no)$/i.test(value) || "Say yes or no",
    transform: (value: string) => value.toLowerCase(),
    reader: {
      isTerminal: () => false,
      setRaw() {},
      read(buffer: Uint8Array): Promise<number> {
        const key = keys.shift();
        if (key === undefined) return Promise.reject(new Error("no more keys"));
        return Promise.resolve(new TextEncoder().encodeInto(key, buffer).written);
      },
    },
  };
}

function createScreen() {
  const decoder = new TextDecoder();
  return {
    text: "",
    writeSync(bytes: Uint8Array): number {
      this.text += decoder.decode(bytes, { stream: true });
      return bytes.length;
    },
  };
}

Deno.test("@cliffy/prompt: Input returns the transformed value and shows it in a line", async () => {
  const { value, screen } = await prompt("Y", "E", "S", "\r");
  assertEquals(value, "yes");
  assert(screen.startsWith("  Continue? › "), screen);
  assertStringIncludes(screen, "  Continue? › YES");
  assert(screen.endsWith("  Continue? › yes\n"), screen);
});

Deno.test("@cliffy/prompt: Input edits the text, and accepts a line feed as Enter", async () => {
  assertEquals((await prompt("n", "x", "\x7f", "o", "\n")).value, "no");
  assertEquals((await prompt("o", "\x1b[D", "n", "\x1b[C", "\x1b[A", "\r")).value, "no");
});

Deno.test("@cliffy/prompt: Input shows why a value is invalid and stays open", async () => {
  const { value, screen } = await prompt("\r", "a", "\r", "\x7f", "n", "o", "\r");
  assertEquals(value, "no");
  assertStringIncludes(screen, "  ✘ Say yes or no");
});

Deno.test("@cliffy/prompt: Input ends with the error of its reader, and shows the cursor", async () => {
  const screen = createScreen();
  const options = { ...createOptions(["y"]), writer: screen };
  await assertRejects(() => Input.prompt(options), Error, "no more keys");
  assert(screen.text.endsWith("\x1b[?25h"), JSON.stringify(screen.text));
  assert(!screen.text.includes("\n"), "the line stays open");
});

Deno.test("@cliffy/prompt: Input reads no key after Enter", async () => {
  const keys = ["n", "o", "\r", "y"];
  await Input.prompt({ ...createOptions(keys), writer: createScreen() });
  assertEquals(keys, ["y"]);
});
