import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { renderTurnCharts } from "./turn_charts.ts";
import { groupTurns, measureTurns } from "./turn_measures.ts";

const call = toolCall("look");
const usage = { input: 100, output: 20, cacheRead: 30, cacheWrite: 5, total: 155 };
const cost = { input: 0.5, output: 0.25, cacheRead: 0, cacheWrite: 0, total: 0.75 };

function entry(timestamp: number, message: unknown): SessionEntry {
  return {
    type: "message",
    id: `e${timestamp}`,
    parentId: null,
    timestamp,
    message,
  } as SessionEntry;
}

const TURNS = measureTurns([
  entry(1_000, userMessage("Hi", 0)),
  entry(3_000, assistantMessage([call], { usage, cost })),
  entry(7_500, toolResultMessage(call, "ok")),
  entry(9_500, assistantMessage("Done", { usage: { ...usage, cacheRead: 0 } })),
]);

Deno.test("measureTurns(): a turn ends with the last result of its calls", () => {
  assertEquals(TURNS, [
    { first: 1, last: 1, input: 105, cached: 30, output: 20, cost: 0.75, durationMs: 6_500 },
    { first: 2, last: 2, input: 105, cached: 0, output: 20, cost: 0, durationMs: 2_000 },
  ]);
});

Deno.test("measureTurns(): reads no amounts out of what another program wrote", () => {
  const strange = { input: 1e300, output: -5, cacheRead: "7", cacheWrite: NaN };
  const message = { ...assistantMessage("x"), usage: strange, cost: { total: null } };
  const turns = measureTurns([
    entry(1e300, message),
    entry(-1e300, { ...message, usage: undefined, cost: undefined }),
  ]);
  const amounts = turns.flatMap(({ first: _first, last: _last, ...rest }) => Object.values(rest));
  assertEquals(amounts, amounts.map(() => 0));
  assertEquals(renderTurnCharts(turns), "");
});

Deno.test("groupTurns(): keeps the sums in at most the given number of groups", () => {
  const [turn] = TURNS;
  assert(turn);
  for (const count of [0, 1, 159, 160, 161, 1_000, 20_000]) {
    const turns = Array.from({ length: count }, (_, index) => ({
      ...turn,
      first: index + 1,
      last: index + 1,
    }));
    const groups = groupTurns(turns, 160);
    assert(groups.length <= 160);
    assertEquals(groups.reduce((total, { input }) => total + input, 0), count * turn.input);
    assertEquals(
      groups.map(({ first }) => first - 1),
      [0, ...groups.map(({ last }) => last)].slice(0, groups.length),
    );
    assertEquals(groups.at(-1)?.last, count === 0 ? undefined : count);
  }
});

Deno.test("renderTurnCharts(): draws tokens, cost and time, each scaled to its highest turn", () => {
  const page = renderTurnCharts(TURNS);
  assertEquals(page.match(/<figcaption>.*?<\/figcaption>/g), [
    "<figcaption>Tokens: 210 read, 30 from the cache, 40 written, by turn</figcaption>",
    "<figcaption>Cost: $0.7500, by turn</figcaption>",
    "<figcaption>Time: 8.5 s, by turn</figcaption>",
  ]);
  assertStringIncludes(page, "<title>Turn 1: 105 read, 30 from the cache, 20 written</title>");
  assertStringIncludes(page, '<rect class="time" x="0" y="0" width="8" height="60"/>');
  assertStringIncludes(page, '<rect class="time" x="10" y="41.54" width="8" height="18.46"/>');
  assertEquals(page.match(/class="cost"/g)?.length, 1);
});

Deno.test("renderTurnCharts(): the bars of a turn are stacked up to its sum", () => {
  const [first = ""] = renderTurnCharts(TURNS).split("</g>");
  const bars = [...first.matchAll(/class="(\w+)" x="0" y="([\d.]+)" width="8" height="([\d.]+)"/g)];
  assertEquals(bars.map(([, kind]) => kind), ["cached", "input", "output"]);
  let bottom = 60;
  for (const [, , y, height] of bars) {
    assert(Math.abs(Number(y) + Number(height) - bottom) < 0.02);
    bottom = Number(y);
  }
  assertEquals(bottom, 0);
});
