/**
 * The events of recorded runs in every protocol, as files. After an intended change:
 * `deno task test tests/protocols/recorded_runs_test.ts -- --update`.
 *
 * @module
 */

import { HttpAgent, type Message } from "@ag-ui/client";
import { EventSchema } from "@ag-ui/core/schemas";
import acpSchema from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };
import { assertEquals, assertMatch } from "@std/assert";
import { toJsonLine } from "../../cli/render/json_line.ts";
import { type AgentEvent, type AgentMessage, ajvValidator } from "../../mod.ts";
import { createOutputSchema } from "../../scripts/stream_output_schema.ts";
import { copyEvent } from "../../src/loop/events/copy_event.ts";
import type { AcpUpdate } from "../../src/protocols/acp/acp_update.ts";
import { toHistoryUpdates } from "../../src/protocols/acp/content.ts";
import { EventMapper } from "../../src/protocols/acp/event_mapper.ts";
import { toAgUi } from "../../src/protocols/ag_ui/mod.ts";
import { root } from "../project.ts";
import { recordRun, RUNS } from "./recorded_runs.ts";
import { toAgUiMessages } from "./to_ag_ui_messages.ts";

const DIRECTORY = new URL("recorded/", import.meta.url);
const OPTIONS = { toPath: (path: string) => `/work/${path}`, getContextWindow: () => 1_000 };

const recorded = new Map(
  await Promise.all(
    Object.entries(RUNS).map(async ([name, script]) => [name, await recordRun(script)] as const),
  ),
);

function toAcp(events: readonly AgentEvent[]): AcpUpdate[] {
  const mapper = new EventMapper(OPTIONS);
  return events.flatMap((event) => mapper.map(event));
}

async function toAgUiEvents(events: readonly AgentEvent[]): Promise<object[]> {
  return await Array.fromAsync(toAgUi(ReadableStream.from(events), { threadId: "thread" }));
}

/** Returns a text with one line for each value. */
function toLines(values: readonly unknown[]): string {
  return values.map(toJsonLine).join("");
}

async function compareFile(name: string, text: string): Promise<void> {
  const file = new URL(name, DIRECTORY);
  if (Deno.args.includes("--update")) {
    await Deno.mkdir(new URL(".", file), { recursive: true });
    await Deno.writeTextFile(file, text);
  }
  assertEquals(
    text,
    await Deno.readTextFile(file),
    "If the change is intended: deno task test tests/protocols/recorded_runs_test.ts -- --update",
  );
}

/** Reads the recorded events of a run. */
async function readEvents(name: string): Promise<AgentEvent[]> {
  const text = await Deno.readTextFile(new URL(`${name}/stream.jsonl`, DIRECTORY));
  return parseLines(text).map((event) => copyEvent(event as AgentEvent));
}

function parseLines(text: string): unknown[] {
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** All types of events; a new one does not compile until it is added here, and must then occur in a run. */
const EVENT_TYPES: Readonly<Record<AgentEvent["type"], true>> = {
  agent_start: true,
  agent_end: true,
  turn_start: true,
  turn_end: true,
  message_start: true,
  message_update: true,
  message_end: true,
  tool_execution_start: true,
  tool_execution_update: true,
  tool_execution_end: true,
  tool_approval_requested: true,
  tool_approval_resolved: true,
  retry: true,
  model_fallback: true,
  model_call_start: true,
  model_call_end: true,
  sub_agent: true,
  context_compacted: true,
  warning: true,
  custom: true,
  queue_changed: true,
  model_changed: true,
};

Deno.test("recorded runs: have every type of event, also of sub-agents", () => {
  const events = [...recorded.values()].flatMap(({ events }) => events);
  const nested = events.flatMap((event) => event.type === "sub_agent" ? [event.event] : []);
  const listTypes = (some: readonly AgentEvent[]) => new Set(some.map(({ type }) => type));
  assertEquals(listTypes(events), new Set(Object.keys(EVENT_TYPES)));
  // The events of agents of sub-agents have a longer path.
  assertEquals(listTypes(nested).add("sub_agent"), new Set(Object.keys(EVENT_TYPES)));
  assertEquals(Math.max(...events.map((event) => "path" in event ? event.path.length : 0)), 2);
});

/** The files that map events: a switch over all types, or a table of them. */
const MAPPINGS = [
  "src/protocols/acp/event_mapper.ts",
  "src/protocols/ag_ui/event_mapper.ts",
  "src/telemetry/run_spans.ts",
  "scripts/stream_output_schema.ts",
];

Deno.test("mappings: name every type of event, and do not compile without one", async () => {
  for (const path of MAPPINGS) {
    const source = await Deno.readTextFile(new URL(path, root));
    const missing = Object.keys(EVENT_TYPES).filter((type) =>
      !source.includes(`case "${type}"`) && !source.includes(`  ${type}: `)
    );
    assertEquals([path, ...missing], [path]);
    assertMatch(
      source,
      /satisfies never|Record<AgentEvent\["type"\]|\[Type in AgentEvent\["type"\]\]/,
    );
  }
});

for (const [name, { events, messages, spans }] of recorded) {
  Deno.test(`recorded run ${name}: has the same events in every protocol as before`, async () => {
    await compareFile(`${name}/stream.jsonl`, toLines(events));
    await compareFile(`${name}/acp.jsonl`, toLines(toAcp(events)));
    await compareFile(`${name}/ag_ui.jsonl`, toLines(await toAgUiEvents(events)));
    await compareFile(`${name}/telemetry.jsonl`, toLines(spans));
  });

  Deno.test(`recorded run ${name}: its lines are valid, and events that are read from them are mapped as the original ones`, async () => {
    const validate = await ajvValidator(createOutputSchema({ isClosed: true }));
    for (const event of events) {
      assertEquals(validate(JSON.parse(toJsonLine(event))), [], event.type);
    }
    const read = await readEvents(name);
    assertEquals(parseLines(toLines(read)), parseLines(toLines(events)));
    assertEquals(toAcp(read), toAcp(events));
    const toPlain = async (events: readonly AgentEvent[]) =>
      parseLines(toLines(await toAgUiEvents(events)));
    assertEquals(await toPlain(read), await toPlain(events));
  });

  Deno.test(`recorded run ${name}: its updates are valid in the schema of the Agent Client Protocol`, async () => {
    const schema = { $ref: "#/$defs/SessionNotification", $defs: acpSchema.$defs };
    const validate = await ajvValidator(schema);
    const updates = [...toAcp(events), ...toHistoryUpdates(messages, OPTIONS)];
    for (const update of updates) {
      assertEquals(validate({ sessionId: "s", update }), [], JSON.stringify(update));
    }
  });

  Deno.test(`recorded run ${name}: a client that loads the session sees what it has seen before`, () => {
    const own = events.filter(({ type }) => type !== "sub_agent");
    const history = toHistoryUpdates(messages, OPTIONS);
    assertEquals(summarize(history), summarize(toAcp(own)));
  });

  Deno.test(`recorded run ${name}: its events are valid in the schemas of AG-UI, and its client has the history`, async () => {
    const mapped = await toAgUiEvents(events);
    for (const event of mapped) EventSchema.parse(event);
    assertEquals(await readMessages(mapped, messages.slice(0, 1)), expectMessages(messages));
  });
}

/** Returns the messages of a client that has sent the prompt and reads the events, without their ids. */
async function readMessages(
  events: readonly object[],
  prompt: readonly AgentMessage[],
): Promise<object[]> {
  const runs = splitRuns(events);
  let run: readonly object[] = [];
  const agent = new HttpAgent({
    url: "http://localhost/",
    threadId: "thread",
    initialMessages: prompt.flatMap(toAgUiMessages) as Message[],
    fetch: () => {
      const body = run.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(body, { headers }));
    },
  });
  for (run of runs) {
    const resume = agent.pendingInterrupts.map(({ id: interruptId }) =>
      ({ interruptId, status: "resolved", payload: { approved: true } }) as const
    );
    // A failed run rejects.
    await agent.runAgent(resume.length > 0 ? { resume } : {}).catch(() => {});
  }
  // Messages of sub-agents are none of the history.
  return agent.messages.filter((message) => !("subagentRunId" in message)).map(removeId);
}

/** Splits the events of several runs. */
function splitRuns(events: readonly object[]): object[][] {
  const runs: object[][] = [];
  for (const event of events) {
    if ("type" in event && event.type === "RUN_STARTED") runs.push([]);
    runs.at(-1)?.push(event);
  }
  return runs;
}

/** Returns the messages that a client should have: those of the history, with thoughts before their reply. */
function expectMessages(messages: readonly AgentMessage[]): object[] {
  return messages.flatMap((message) => {
    const thoughts = message.role === "assistant"
      ? message.content.flatMap((block) =>
        block.type === "thinking" ? [{ role: "reasoning", content: block.thinking }] : []
      )
      : [];
    return [...thoughts, ...toAgUiMessages(message).map(removeId)];
  });
}

/** Removes the id, and the error of a tool, for which the protocol has no event. */
function removeId(
  { id: _id, error: _error, ...message }: { readonly id: string; readonly error?: unknown },
): object {
  return message;
}

/** Returns the texts and the calls that updates show in the end, without the prompts, and without text that was discarded. */
function summarize(updates: readonly AcpUpdate[]): { text: string; calls: object } {
  let text = "";
  const calls = new Map<string, object>();
  for (const update of updates) {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
        if (update.content.type === "text") text += update.content.text;
        break;
      case "tool_call":
      case "tool_call_update": {
        const { sessionUpdate: _kind, ...fields } = update;
        calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...fields });
        break;
      }
    }
  }
  return {
    text: text.replace(/^.*\n\n\*The reply starts again\.\*\n\n/s, ""),
    calls: Object.fromEntries(calls),
  };
}
