/**
 * Creates agents with a scripted model and deterministic ports.
 *
 * @module
 */

import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import type { ScriptedStep } from "../../src/testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../src/testing/scripted_stream.ts";
import { scriptedPorts } from "./ports.ts";

/** An agent with its scripted model and its clock. */
export interface TestAgent {
  agent: Agent;
  streamFn: ScriptedStream;
  clock: ManualClock;
  /** Every event that a subscriber received, also between runs. */
  seen: AgentEvent[];
}

/** Creates an agent with a scripted model. */
export function testAgent(
  steps: readonly ScriptedStep[],
  options: Partial<AgentOptions> = {},
): TestAgent {
  const streamFn = scriptedStream(steps);
  const clock = new ManualClock();
  const agent = new Agent({ model: "test/model", streamFn, ...scriptedPorts(clock), ...options });
  const seen: AgentEvent[] = [];
  agent.subscribe((event) => void seen.push(event));
  return { agent, streamFn, clock, seen };
}

/** Calls `act` on the first event of a type. */
export function atFirst(agent: Agent, type: AgentEvent["type"], act: () => void): void {
  const unsubscribe = agent.subscribe((event) => {
    if (event.type !== type) return;
    unsubscribe();
    act();
  });
}
