import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { showsTarget, splitAddresses } from "./link_policy.ts";

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
    "https://a.org/世界。世": "https://a.org/世界",
    "https://a.org/b（世）": "https://a.org/b",
  };
  for (const [text, address] of Object.entries(addresses)) {
    assertEquals(findAddress(text), address, text);
  }
});

Deno.test("splitAddresses(): the time is proportional to the length of the text", () => {
  const getThreadTime = startThreadTimer();
  assertEquals(findAddress(`https://a.org/${")".repeat(40_000)}`), "https://a.org/");
  const target = "https://b.org/";
  assert(!showsTarget(`${"a.bb:".repeat(100_000)} x`, { target, hasLinks: true }));
  assert(getThreadTime() < 1_000);
});

Deno.test("showsTarget(): the address of a link follows a text that looks like another address", () => {
  const shows = (text: string) => showsTarget(text, { target: "https://b.org/", hasLinks: true });
  for (
    const text of [
      "a.org",
      "a.org/b",
      "https://a.org",
      "a.org\u200b",
      "\u200bwww.a",
      "a.org.",
      "(a.org)",
    ]
  ) {
    assertEquals(shows(text), false, JSON.stringify(text));
  }
  for (const text of ["b.org", "https://b.org", "the site", "e.g. this", "Done.", "Read more"]) {
    assertEquals(shows(text), true, JSON.stringify(text));
  }
});
