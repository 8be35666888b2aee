/**
 * Random disturbances of a run: steering, changes of settings, aborts, and listeners that fail.
 *
 * @module
 */

import type { Agent } from "../../src/agent/agent.ts";
import { AgentError, getErrorMessage } from "../../src/core/errors/errors.ts";
import type { PromptInput } from "../../src/core/messages/message.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../src/testing/messages.ts";
import type { FuzzEnvironment } from "./engine_fuzz_environment.ts";
import { randomJson, randomNonsense, randomReturnValue } from "./engine_fuzz_values.ts";

/** Creates a prompt: a text, messages, or what is no prompt. */
export function randomPrompt({ random, isWellBehaved }: FuzzEnvironment): PromptInput {
  if (isWellBehaved) return "Go";
  const user = { role: "user", content: [{ type: "text", text: "Go" }], timestamp: 0 } as const;
  const call = toolCall("fast", {}, { id: "a" });
  return random.create<PromptInput>([
    () => "Go",
    () => "Go",
    () => "Go",
    () => ({ ...user, id: "mine", metadata: { tags: ["x"] } }),
    () => [{ role: "custom", type: "alarm", data: randomJson(random), timestamp: 0 }, user],
    () => [{ role: "custom", type: "alarm", data: randomNonsense(random), timestamp: 0 }, user],
    () => ({ ...user, metadata: { value: randomNonsense(random) } }),
    () => [user, assistantMessage([call]), toolResultMessage(call, "done"), user],
    () => [user, assistantMessage([call])],
    () => [toolResultMessage(call, "lost"), user],
    () => random.oneOf(["", " "]),
    () => randomNonsense(random) as PromptInput,
    () => [randomNonsense(random) as typeof user],
  ]);
}

/** Disturbs a run at random events. Returns a function that disturbs it at other times. */
export function createDisturbances(agent: Agent, environment: FuzzEnvironment): () => void {
  const { random, toolClock, ledger } = environment;
  const probability = random.oneOf([0, 0.01, 0.05]);
  const onMisuse = (error: unknown): void => {
    if (!AgentError.is(error)) ledger.violations.push(`misuse throws ${getErrorMessage(error)}`);
  };
  const disturbances: (() => unknown)[] = [
    () => agent.steer("Wait"),
    () => agent.steer("Wait"),
    () => agent.steer(randomPrompt(environment)),
    () => agent.followUp("And then?"),
    () => agent.followUp(randomPrompt(environment)),
    () => agent.clearQueues(),
    () => agent.cancelQueued(agent.queued.steering[0]?.id ?? ""),
    () => agent.setModel(random.oneOf(["test/model", "other/model:high"])),
    () => agent.setTools(agent.state.tools.toSpliced(0, random.integer(2))),
    () => agent.setSystemPrompt("Be brief"),
    () => agent.emitCustom("note", randomJson(random)),
    () => agent.emitCustom("note", randomNonsense(random)),
    () => agent.abort(random.chance(0.5) ? "in the middle" : randomNonsense(random)),
    () => void (agent.state.isRunning && agent.prompt("Too early").catch(onMisuse)),
    () => JSON.stringify(agent.state.streamingMessage),
    () => toolClock.sleep(random.integer(20)),
    () => randomReturnValue(random),
  ];
  const disturb = (): unknown => {
    try {
      return random.oneOf(disturbances)();
    } catch (error) {
      return onMisuse(error);
    }
  };
  const none = (): undefined => undefined;
  agent.subscribe(() => environment.sometimes(probability, disturb, none));
  agent.subscribe(() => environment.sometimes(0.005, () => environment.fail(), none));
  return () => {
    const returned = environment.sometimes(probability, disturb, none);
    Promise.resolve(returned).catch(() => {});
  };
}
