/**
 * The other thread of a synchronous run: makes the agent, runs it, and hands the result over.
 *
 * @module
 */

import { Agent } from "../agent/agent.ts";
import { AgentError, BadRequestError, getErrorMessage, StreamError } from "../core/errors.ts";
import { sendText, type SyncRequest, type SyncResponse } from "./wire.ts";

/** Runs the request and answers through its buffer. */
async function handleRequest({ module, input, buffer }: SyncRequest): Promise<void> {
  sendText(buffer, JSON.stringify(await runRequest(module, input)));
}

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
  const { default: made } = await import(module);
  const agent: unknown = typeof made === "function" ? await made() : made;
  if (agent instanceof Agent) return agent;
  throw new BadRequestError(
    `The default export of ${module} must be an Agent, or a function that makes one`,
  );
}

const onMessage = (event: Event): void =>
  void handleRequest((event as MessageEvent<SyncRequest>).data);

self.addEventListener("message", onMessage, { once: true });
