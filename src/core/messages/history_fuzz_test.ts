import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { isJsonObject } from "../json/json.ts";
import { type ContentBlock, extractToolCalls } from "./content.ts";
import { hasContent, repairHistory } from "./history.ts";
import { type AgentMessage, userMessage } from "./message.ts";

const ROUNDS = 2000;
type Random = () => number;

/** Returns one of a few ids, so that they collide. */
function randomId(random: Random): string {
  return ["a", "b", "c", "a_1", "call_1", ""][Math.floor(random() * 6)] ?? "";
}

function randomBlock(random: Random): ContentBlock {
  const dice = random();
  if (dice < 0.25) return text(random() < 0.5 ? "" : "text");
  const invalid = dice < 0.35 ? { arguments: null as unknown as Record<string, unknown> } : {};
  const partial = dice < 0.45 ? { partialJson: "{" } : {};
  return { ...toolCall("bash", { n: 1 }, { id: randomId(random) }), ...invalid, ...partial };
}

function randomMessage(random: Random): AgentMessage {
  const dice = random();
  if (dice < 0.2) return userMessage("prompt", 0);
  if (dice < 0.25) return { role: "custom", type: "note", data: null, timestamp: 0 };
  if (dice < 0.65) return toolResultMessage({ id: randomId(random), name: "bash" }, `${random()}`);
  const count = Math.floor(random() * 4);
  return assistantMessage(Array.from({ length: count }, () => randomBlock(random)));
}

function randomHistory(random: Random): AgentMessage[] {
  const length = Math.floor(random() * 16);
  const history = Array.from({ length }, () => randomMessage(random));
  // A history may contain the same message object twice.
  const first = history[0];
  return first && random() < 0.2 ? [...history, first] : history;
}

/** Creates a valid history. */
function randomValidHistory(random: Random): AgentMessage[] {
  const history: AgentMessage[] = [];
  for (let turn = Math.floor(random() * 8); turn > 0; turn--) {
    if (random() < 0.5) history.push(userMessage("prompt", 0));
    if (random() < 0.2) history.push({ role: "custom", type: "note", data: null, timestamp: 0 });
    const calls = Array.from(
      { length: Math.floor(random() * 3) },
      (_, order) => toolCall("bash", {}, { id: `t${turn}_${order}` }),
    );
    history.push(assistantMessage([text("text"), ...calls]));
    history.push(...calls.map((call) => toolResultMessage(call, "done")));
  }
  return history;
}

/** Returns the first violation of the rules of a valid history. */
function findViolation(history: readonly AgentMessage[]): string | undefined {
  const ids = new Set<string>();
  for (let next = 0; next < history.length;) {
    const message = history[next++];
    if (message?.role === "tool_result") return "a result without a call";
    if (message?.role !== "assistant") continue;
    if (!hasContent(message.content)) return "an empty assistant message";
    for (const call of extractToolCalls(message.content)) {
      if (call.id === "" || ids.has(call.id)) return `the id ${JSON.stringify(call.id)}`;
      if (!isJsonObject(call.arguments)) return "arguments that are not an object";
      if ("partialJson" in call) return "a partialJson member";
      ids.add(call.id);
      const result = history[next++];
      if (result?.role !== "tool_result" || result.toolCallId !== call.id) {
        return `call ${call.id} without its result`;
      }
    }
  }
}

function serializeMessages(history: readonly AgentMessage[], role: AgentMessage["role"]): string[] {
  return history.filter((message) => message.role === role).map((message) =>
    JSON.stringify(message)
  );
}

Deno.test("repairHistory() makes random histories valid in one pass", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const history = randomHistory(seededRandom(seed));
    const { messages, repairs } = repairHistory(history);
    assertEquals(findViolation(messages), undefined, `seed ${seed}`);
    assertEquals(repairs.length > 0, findViolation(history) !== undefined, `seed ${seed}`);
    const again = repairHistory(messages);
    assertEquals(again.repairs, [], `seed ${seed}`);
    assertStrictEquals(again.messages, messages);
  }
});

Deno.test("repairHistory() returns the same array for random valid histories", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const history = randomValidHistory(seededRandom(seed));
    assertEquals(findViolation(history), undefined, `seed ${seed}`);
    const { messages, repairs } = repairHistory(history);
    assertStrictEquals(messages, history);
    assertEquals(repairs, []);
  }
});

Deno.test("repairHistory() keeps a valid beginning before random messages", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const random = seededRandom(seed);
    const beginning = randomValidHistory(random);
    const { messages } = repairHistory([...beginning, ...randomHistory(random)]);
    beginning.forEach((message, index) =>
      assertStrictEquals(messages[index], message, `seed ${seed}`)
    );
  }
});

Deno.test("repairHistory() keeps all user and custom messages", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const history = randomHistory(seededRandom(seed));
    const { messages } = repairHistory(history);
    for (const role of ["user", "custom"] as const) {
      assertEquals(
        serializeMessages(messages, role),
        serializeMessages(history, role),
        `seed ${seed}`,
      );
    }
  }
});

Deno.test("repairHistory() reports each dropped and added message", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const history = randomHistory(seededRandom(seed));
    const { messages, repairs } = repairHistory(history);
    const countRepairs = (type: string): number =>
      repairs.filter((repair) => repair.type === type).length;
    const countGrowth = (role: AgentMessage["role"]): number =>
      serializeMessages(messages, role).length - serializeMessages(history, role).length;
    assertEquals(
      countGrowth("tool_result"),
      countRepairs("missing_result_added") - countRepairs("orphan_result_dropped"),
      `seed ${seed}`,
    );
    assertEquals(
      countGrowth("assistant"),
      -countRepairs("empty_assistant_dropped"),
      `seed ${seed}`,
    );
    assert(repairs.every(({ index }) => index >= 0 && index < history.length));
  }
});

Deno.test("repairHistory() repairs 50,000 calls with the same id in linear time", () => {
  const callMessage = assistantMessage([toolCall("bash", {}, { id: "call_0" })]);
  const result = toolResultMessage({ id: "call_0", name: "bash" }, "done");
  const history = Array.from({ length: 50_000 }, () => [callMessage, result]).flat();
  const getThreadTime = startThreadTimer();
  const { messages } = repairHistory(history);
  // Quadratic work takes minutes; the bound allows for a busy machine.
  assert(getThreadTime() < 10_000);
  assertEquals(findViolation(messages), undefined);
});
