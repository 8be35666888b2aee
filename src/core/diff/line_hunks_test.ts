import { assertEquals } from "@std/assert";
import { seededRandom } from "../../testing/seeded_random.ts";
import { applyHunks, findHunks } from "./line_hunks.ts";

/** Numbered lines, long enough for equal starts and ends to be skipped. */
function createLines(count: number, prefix = "line"): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix} ${index}\n`);
}

Deno.test("applyHunks(): all hunks give the new text, and none the old one (seed 5)", () => {
  const random = seededRandom(5);
  const pick = (below: number) => Math.floor(random() * below);
  for (let round = 0; round < 40; round++) {
    const lines = createLines(2000);
    const changed = [...lines];
    for (let edit = 0; edit <= pick(4); edit++) {
      changed.splice(pick(changed.length), pick(3), ...createLines(pick(3), `edit ${edit}`));
    }
    const [before, after] = [lines.join(""), changed.join("").slice(0, -pick(2) || undefined)];
    assertEquals(applyHunks({ before, after }, () => true), after);
    assertEquals(applyHunks({ before, after }, () => false), before);
  }
});

Deno.test("applyHunks(): a selected hunk is applied, between equal lines that are not compared", () => {
  const lines = createLines(2000);
  const change = (...numbers: readonly number[]) =>
    lines.map((line, index) => numbers.includes(index) ? `new ${line}` : line).join("");
  const texts = { before: lines.join(""), after: change(900, 1000) };
  const { hunks, skippedLines, before } = findHunks(texts.before, texts.after);
  assertEquals([hunks.length, skippedLines > 300, before.length < 1700], [2, true, true]);
  assertEquals(applyHunks(texts, (index) => index === 0), change(900));
  assertEquals(applyHunks(texts, (index) => index === 1), change(1000));
});
