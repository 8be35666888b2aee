/**
 * Prompt caches: the request of a turn begins with that of the turn before, up to its last cache mark.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import {
  Agent,
  type AgentMessage,
  type AgentTool,
  defineTool,
  exponentialBackoff,
  type ImageBlock,
  type StreamFn,
} from "../../mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { CacheRetention } from "../../src/core/streams/stream.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { fail, hang, reply, type ScriptedAnswer } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { InstantClock, scriptedPorts } from "../conformance/ports.ts";
import { splitCachedParts } from "./cached_prefix.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";
import { findChatProblems } from "./request_rules.ts";

/** A random session. */
interface Session {
  readonly cache: CacheRetention;
  readonly actions: readonly Action[];
}

/** One prompt of a session. */
interface Action {
  readonly prompt: string;
  readonly image: boolean;
  readonly followUp: boolean;
  readonly steering: boolean;
  readonly reversesTools: boolean;
  /** Whether the session continues a reply that was cut off, rather than with the prompt. */
  readonly continues: boolean;
  readonly answers: readonly Answer[];
}

/** One answer of the model. */
interface Answer {
  readonly type: "complete" | "overloaded" | "length" | "cut" | "aborted";
  readonly thinks: boolean;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly value: string }[];
}

/** A session that continues a reply that was cut off, twice. */
const CONTINUED: Session = {
  cache: "short",
  actions: [
    { continues: false, type: "cut" as const },
    { continues: true, type: "cut" as const },
    { continues: true, type: "complete" as const },
    { continues: false, type: "complete" as const },
  ].map(({ continues, type }) => ({
    prompt: "Hello",
    image: false,
    followUp: false,
    steering: false,
    reversesTools: false,
    continues,
    answers: [{ type, thinks: true, text: "Well", calls: [] }],
  })),
};

const MAX_REQUESTS = 100;
const IMAGE: ImageBlock = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "aWltYWdl" },
};
const TOOL_NAMES = ["look", "draw", "break", "strange-tool"];

const word = fc.constantFrom("", " ", "Hello", "ü 👋", "\ud800", '{"a":1}', "a\n\nb ");

const answer: fc.Arbitrary<Answer> = fc.record({
  type: fc.oneof(
    { weight: 6, arbitrary: fc.constant("complete" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "overloaded" as const,
        "length" as const,
        "cut" as const,
        "aborted" as const,
      ),
    },
  ),
  thinks: fc.boolean(),
  text: word,
  calls: fc.array(
    fc.record({ name: fc.constantFrom(...TOOL_NAMES, "missing"), value: word }),
    { maxLength: 3 },
  ),
});

const action: fc.Arbitrary<Action> = fc.record({
  prompt: word.filter((prompt) => prompt.trim() !== ""),
  image: fc.boolean(),
  followUp: fc.boolean(),
  steering: fc.boolean(),
  reversesTools: fc.boolean(),
  continues: fc.boolean(),
  answers: fc.array(answer, { maxLength: 4 }),
});

const sessions: fc.Arbitrary<Session> = fc.record({
  cache: fc.constantFrom("short" as const, "long" as const),
  actions: fc.array(action, { minLength: 1, maxLength: 3 }),
});

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 1_000 : 20;

// Behind the proxy, the adapter of its server creates the request.
const PROVIDERS = NINE_PROVIDERS.filter(({ name }) => name !== "proxy");

for (const subject of PROVIDERS) {
  Deno.test(`prompt cache: with ${subject.name}, each request begins with the one before`, async () => {
    await fc.assert(
      fc.asyncProperty(sessions, async (session) => {
        assertPrefixes(await captureSession(subject, session));
      }),
      { numRuns: RUNS, seed: 1 },
    );
  });
}

/** The providers, and a local server whose prompt template requires that the roles alternate, so that prompts are merged. */
const SUBJECTS: readonly ProviderSubject[] = [
  ...PROVIDERS,
  {
    name: "a local server",
    model: modelSpec("openai/gemma-3"),
    createStreamFn: ({ fetch }) =>
      createOpenAI({ apiKey: "sk-test", baseUrl: "http://localhost:8000", fetch }),
    findProblems: findChatProblems,
  },
];

for (const subject of SUBJECTS) {
  Deno.test(`prompt cache: with ${subject.name}, the request after a continued reply begins with the one before`, async () => {
    const bodies = await captureSession(subject, CONTINUED);
    assertEquals(bodies.length, CONTINUED.actions.length);
    assertPrefixes(bodies);
  });
}

/** Runs an agent on scripted answers, and returns the request bodies that the adapter creates. */
async function captureSession(
  { model, createStreamFn }: ProviderSubject,
  { cache, actions }: Session,
): Promise<JsonObject[]> {
  const bodies: JsonObject[] = [];
  const answers: Answer[] = [];
  let current: Answer | undefined;
  let isSteering = false;
  const scripted = scriptedStream(Array.from({ length: MAX_REQUESTS }, () => () => {
    current = answers.shift();
    // Claude rejects the results of calls that were made without thinking, and gets them with thinking turned off.
    const mustThink = model.thinkingLevel !== "off";
    return current ? toScript({ ...current, thinks: mustThink || current.thinks }) : reply("Done.");
  }));
  const streamFn: StreamFn = async function* (request) {
    const fetch = replayFetch({ status: 500 });
    const { signal } = new AbortController();
    await readReply(createStreamFn({ fetch })({ ...request, signal }));
    const [sent] = fetch.requests;
    assert(sent, "the adapter sent no request");
    bodies.push(JSON.parse(sent.body));
    yield* scripted(request);
  };
  const agent = new Agent({
    model,
    streamFn,
    systemPrompt: "Be brief.",
    tools: createTools(),
    retry: exponentialBackoff(),
    streamOptions: { sessionId: "session-1", cache },
    ...scriptedPorts(new InstantClock()),
  });
  agent.subscribe(({ type }) => {
    if (type === "message_update" && current?.type === "aborted") agent.abort();
    if (type === "tool_execution_start" && isSteering) agent.steer("Wait!");
    isSteering &&= type !== "tool_execution_start";
  });
  for (
    const { prompt, image, followUp, steering, reversesTools, continues, answers: planned }
      of actions
  ) {
    isSteering = steering;
    if (reversesTools) agent.setTools(createTools().toReversed());
    answers.splice(0, answers.length, ...planned);
    if (followUp) agent.followUp("And then?");
    if (continues && isUnfinished(agent.state.messages.at(-1))) {
      await agent.continue();
      continue;
    }
    await agent.prompt({ text: prompt, images: image ? [IMAGE] : [] });
  }
  return bodies;
}

/** Whether a message is a reply that was cut off, which an agent continues. */
function isUnfinished(message: AgentMessage | undefined): boolean {
  return message?.role === "assistant" && !["stop", "tool_use"].includes(message.stopReason);
}

function toScript({ type, thinks, text: content, calls }: Answer): ScriptedAnswer {
  const blocks = [
    ...(thinks ? [thinking("Let me think.", { signature: "c2lnbmF0dXJl" })] : []),
    ...(content === "" ? [] : [text(content)]),
    ...calls.map(({ name, value }) => toolCall(name, { value })),
  ];
  switch (type) {
    case "complete":
      return reply(blocks);
    case "length":
      return reply([...blocks, toolCall("look", '{"val')], { stopReason: "length" });
    case "cut":
      return reply(blocks, { stopReason: "length" });
    case "overloaded":
      return fail("network_error", "Overloaded", { after: blocks });
    case "aborted":
      return hang({ after: [...blocks, text("More")] });
  }
}

function createTools(): AgentTool[] {
  const parameters = { type: "object", properties: { value: { type: "string" } } } as const;
  return TOOL_NAMES.map((name) =>
    defineTool({
      name,
      description: `Tool ${name}`,
      parameters,
      execute: ({ value = "" }) => {
        if (name === "break") throw new Error(`Broken ${value}`);
        return { content: name === "draw" ? [text(value), IMAGE] : [text(value)] };
      },
    })
  );
}

function assertPrefixes(bodies: readonly JsonObject[]): void {
  for (const [index, next] of bodies.slice(1).entries()) {
    assertBeginsWith(next, bodies[index] ?? {});
  }
}

function assertBeginsWith(next: JsonObject, previous: JsonObject): void {
  const { parts, marked } = splitCachedParts(previous);
  const expected = parts.slice(0, marked).join("\n");
  const actual = splitCachedParts(next).parts.slice(0, marked).join("\n");
  assert(
    actual === expected,
    `The cached part changed from\n${expected}\nto\n${actual}`,
  );
}
