/**
 * Runs the agent of a synchronous run, in the worker.
 *
 * @module
 */

import { Agent } from "../agent/agent.ts";
import {
  AgentError,
  BadRequestError,
  getErrorMessage,
  StreamError,
} from "../core/errors/errors.ts";
import { toJsonValue } from "../core/json/json.ts";
import type { SyncCall, SyncRequest, SyncResponse } from "./sync_request.ts";

/** Loads the agent, calls its method, and returns the response as JSON. Never rejects. */
export async function runRequest({ module, call }: SyncRequest): Promise<string> {
  try {
    const value = await callAgent(await loadAgent(module), call);
    return stringifyResult(value);
  } catch (thrown) {
    const error = AgentError.is(thrown)
      ? thrown
      : new StreamError(`The agent of ${module} failed: ${getErrorMessage(thrown)}`);
    return stringify({ type: "failed", error: error.toJSON() });
  }
}

async function loadAgent(module: string): Promise<Agent> {
  const { default: exported } = await import(/* webpackIgnore: true */ module);
  const agent: unknown = typeof exported === "function" ? await exported() : exported;
  if (agent instanceof Agent) return agent;
  throw new BadRequestError(
    `The default export of ${module} must be an Agent, or a function that returns one`,
  );
}

async function callAgent(agent: Agent, call: SyncCall): Promise<unknown> {
  switch (call.type) {
    case "prompt":
      return await agent.prompt(call.input, call.options);
    case "continue":
      return await agent.continue(call.options);
    case "structured_output":
      return await agent.structuredOutput(call.input, call.schema, call.options);
  }
}

/** @throws {BadRequestError} If the value is not JSON. */
function stringifyResult(value: unknown): string {
  try {
    return stringify({ type: "returned", value });
  } catch (cause) {
    const conversion = toJsonValue(value);
    const problem = "problem" in conversion ? conversion.problem : getErrorMessage(cause);
    throw new BadRequestError(
      `The result cannot be passed to another thread, since it is not JSON: ${problem}`,
      { cause },
    );
  }
}

function stringify(response: SyncResponse): string {
  return JSON.stringify(response);
}
