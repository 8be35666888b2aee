/**
 * The worker of `worker_test.ts`: a server of an agent with a tool, as Cloudflare runs it.
 *
 * @module
 */

import { Agent, defineTool, type SchemaValidator } from "@swink/agent";
import { createAnthropic } from "@swink/agent/adapters/anthropic";
import { InMemorySessionStore, recordSession } from "@swink/agent/memory";

/** The variables of the worker. */
export interface WorkerEnvironment {
  /** Base URL of the model. */
  readonly MODEL_URL: string;
}

/** The part of a worker that is used here. */
export interface Worker {
  fetch(request: Request, env: WorkerEnvironment): Promise<Response>;
}

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  parameters: {
    type: "object",
    properties: { left: { type: "number" }, right: { type: "number" } },
    required: ["left", "right"],
  },
  execute: ({ left, right }) => String(left + right),
});

/** Creates a worker whose responses are the events of a run for the prompt in the request. */
export function createWorker(validator?: SchemaValidator): Worker {
  return {
    async fetch(request, env) {
      const agent = new Agent({
        model: "anthropic/claude-sonnet-4-6",
        streamFn: createAnthropic({ apiKey: "key", baseUrl: env.MODEL_URL }),
        tools: [add],
        validator,
      });
      await recordSession(agent, new InMemorySessionStore());
      return agent.promptStream(await request.text()).toResponse();
    },
  };
}
