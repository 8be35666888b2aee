/**
 * The worker of a synchronous run: loads the agent, runs it and sends the result to the calling thread.
 *
 * @module
 */

import { Agent } from "../agent/agent.ts";
import { AgentError, BadRequestError, getErrorMessage, StreamError } from "../core/errors.ts";
import { getParentThread } from "../platform/worker.ts";
import { sendText, type SyncRequest, type SyncResponse } from "./wire.ts";

async function runRequest(module: string, input: SyncRequest["input"]): Promise<SyncResponse> {
  try {
    const agent = await loadAgent(module);
    const result = await (input === undefined ? agent.continue() : agent.prompt(input));
    return { type: "result", result };
  } catch (thrown) {
    const error = AgentError.is(thrown)
      ? thrown
      : new StreamError(`The agent of ${module} failed: ${getErrorMessage(thrown)}`);
    return { type: "failed", error: error.toJSON() };
  }
}

async function loadAgent(module: string): Promise<Agent> {
  const { default: exported } = await import(module);
  const agent: unknown = typeof exported === "function" ? await exported() : exported;
  if (agent instanceof Agent) return agent;
  throw new BadRequestError(
    `The default export of ${module} must be an Agent, or a function that returns one`,
  );
}

getParentThread().onMessage(async (message) => {
  const { module, input, buffer } = message as SyncRequest;
  sendText(buffer, JSON.stringify(await runRequest(module, input)));
});
