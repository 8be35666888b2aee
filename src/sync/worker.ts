/**
 * The other thread of a synchronous run: makes the agent, runs it, and hands the result over.
 *
 * @module
 */

import { Agent } from "../agent/agent.ts";
import { AgentError, BadRequestError, messageOf, StreamError } from "../core/errors.ts";
import { sendText, type SyncAnswer, type SyncRequest } from "./wire.ts";

/** Runs the request and answers through its buffer. */
async function answer({ module, input, buffer }: SyncRequest): Promise<void> {
  sendText(buffer, JSON.stringify(await answerOf(module, input)));
}

async function answerOf(module: string, input: SyncRequest["input"]): Promise<SyncAnswer> {
  try {
    const agent = await agentOf(module);
    const result = await (input === undefined ? agent.continue() : agent.prompt(input));
    return { type: "result", result };
  } catch (thrown) {
    const error = AgentError.is(thrown)
      ? thrown
      : new StreamError(`The agent of ${module} failed: ${messageOf(thrown)}`);
    return { type: "failed", error: error.toJSON() };
  }
}

async function agentOf(module: string): Promise<Agent> {
  const { default: made } = await import(module);
  const agent: unknown = typeof made === "function" ? await made() : made;
  if (agent instanceof Agent) return agent;
  throw new BadRequestError(
    `The default export of ${module} must be an Agent, or a function that makes one`,
  );
}

const listen = (event: Event): void => void answer((event as MessageEvent<SyncRequest>).data);

self.addEventListener("message", listen, { once: true });
