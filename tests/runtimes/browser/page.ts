/**
 * The page that `chromium_test.ts` opens: an agent with a tool, whose model is the server of the page.
 *
 * @module
 */

import { Agent, type CompiledSchema, defineTool } from "@swink/agent";
import { createAnthropic } from "@swink/agent/adapters/anthropic";
import * as cassettes from "@swink/agent/cassettes";
import * as evaluation from "@swink/agent/eval";
import { InMemorySessionStore, recordSession } from "@swink/agent/memory";
import * as patch from "@swink/agent/patch";
import * as policies from "@swink/agent/policies";
import * as sync from "@swink/agent/sync";
import * as testing from "@swink/agent/testing";
import { codingTools } from "@swink/agent/tools";

/** The result of the page, which it sends to its server. */
export interface PageResult {
  /** Whether the page may compile code. */
  canEvaluate: boolean;
  /** Texts of the messages. */
  texts: string[];
  stopReason: string;
  /** Types of the messages in the session. */
  entries: string[];
  /** Error of a function that needs files. */
  filesError: string;
  /** Number of names in the modules that only have to load. */
  names: number;
}

const parameters = {
  type: "object",
  properties: { left: { type: "number" }, right: { type: "number" } },
  required: ["left", "right"],
} as const;

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  parameters,
  execute: ({ left, right }) => String(left + right),
});

/** Validates the numbers of the tool `add` without compiling code, as ajv does. */
const compileWithoutEval = (): CompiledSchema => (value) =>
  parameters.required.filter((name) => typeof (value as Record<string, unknown>)[name] !== "number")
    .map((name) => ({ path: `/${name}`, message: "must be number" }));

async function runAgent(canEvaluate: boolean): Promise<PageResult> {
  const agent = new Agent({
    model: "anthropic/claude-sonnet-4-6",
    streamFn: createAnthropic({ apiKey: "key", baseUrl: location.origin }),
    tools: [add],
    ...(!canEvaluate && { validator: compileWithoutEval }),
  });
  const recording = await recordSession(agent, new InMemorySessionStore());
  const { messages, stopReason } = await agent.prompt("What is 19 + 23?");
  await recording.stop();
  const blocks = messages.flatMap((message) => message.role === "custom" ? [] : message.content);
  return {
    canEvaluate,
    texts: blocks.flatMap((block) => block.type === "text" ? block.text : []),
    stopReason,
    entries: (await recording.session.path({ types: ["message"] })).map(({ type }) => type),
    filesError: getError(() => codingTools({ cwd: "/" })),
    names: [cassettes, evaluation, patch, policies, sync, testing].flatMap(Object.keys).length,
  };
}

function getError(act: () => unknown): string {
  try {
    act();
    return "none";
  } catch (error) {
    return String(error);
  }
}

function canEvaluate(): boolean {
  return getError(() => new Function("")) === "none";
}

const result: unknown = await runAgent(canEvaluate()).catch((error) => ({ error: String(error) }));
await fetch("/result", { method: "POST", body: JSON.stringify(result) });
