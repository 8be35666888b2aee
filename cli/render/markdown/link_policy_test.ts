import { assert, assertEquals } from "@std/assert";
import { splitAddresses } from "./link_policy.ts";

/** Returns the address at the beginning of a text. */
function findAddress(text: string): string | undefined {
  const [first] = splitAddresses(text);
  return first?.target && first.text;
}

Deno.test("splitAddresses(): omits punctuation behind an address, except parentheses that it opens", () => {
  const addresses = {
    "https://a.org/b). C": "https://a.org/b",
    "https://a.org/b_(c)": "https://a.org/b_(c)",
    "https://a.org/b_(c)).": "https://a.org/b_(c)",
    "https://a.org/((b)": "https://a.org/((b)",
    "https://a.org/b())!)": "https://a.org/b()",
  };
  for (const [text, address] of Object.entries(addresses)) {
    assertEquals(findAddress(text), address, text);
  }
});

Deno.test("splitAddresses(): the time is proportional to the length of the text", () => {
  const startedAt = performance.now();
  assertEquals(findAddress(`https://a.org/${")".repeat(40_000)}`), "https://a.org/");
  assert(performance.now() - startedAt < 1_000);
});
