/**
 * Random options of agents and of runs.
 *
 * @module
 */

import type { AgentOptions } from "../../src/agent/options.ts";
import type { RunOptions } from "../../src/agent/run_options.ts";
import type { ApprovalDecision } from "../../src/core/approval/approval.ts";
import type { TransformContext } from "../../src/core/context/context.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../src/core/hooks/approve.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { AgentMessage, LlmMessage } from "../../src/core/messages/message.ts";
import type { FuzzEnvironment } from "./engine_fuzz_environment.ts";
import { CallLedger } from "./engine_fuzz_ledger.ts";
import { collectObjects } from "./engine_fuzz_objects.ts";
import { randomPolicy, randomToolLimit } from "./engine_fuzz_policies.ts";
import { createBroken, createTool } from "./engine_fuzz_tools.ts";
import {
  createCycle,
  randomCost,
  randomNonsense,
  randomReturnValue,
  randomUsage,
} from "./engine_fuzz_values.ts";

/** Creates random options of an agent. */
export function randomOptions(environment: FuzzEnvironment): Partial<AgentOptions> {
  const { random } = environment;
  const spare = { provider: "other", modelId: "spare", thinkingLevel: "off" } as const;
  const rates = { input: 2, output: 8 };
  return {
    maxTurns: 12,
    interrupt: random.oneOf(["cancel", "boundary", "after_batch"]),
    steeringMode: random.oneOf(["one_at_a_time", "all"]),
    followUpMode: random.oneOf(["one_at_a_time", "all"]),
    policies: [
      ...random.array(0, 3, () => randomPolicy(environment)),
      ...(environment.toolRandom.chance(0.3) ? [randomToolLimit(environment)] : []),
    ],
    retry: createBroken(environment, ({ attempt }) => attempt < 2 ? 50 : null),
    ...(random.chance(0.3) && { toolTimeoutMs: 30 + random.integer(100) }),
    ...(random.chance(0.5) && { fallback: [{ model: spare }] }),
    ...(random.chance(0.6) && {
      approve: (request) => answerRequest(environment, request),
      approvalMode: random.oneOf(["always", "enabled", "smart", "bypassed"]),
    }),
    ...(random.chance(0.5) && { prices: random.chance(0.5) ? {} : { model: rates, cheap: rates } }),
    ...(random.chance(0.3) && { prices: createBroken(environment, () => rates) }),
    ...(random.chance(0.5) && { transformContext: createTransform(environment) }),
    ...(random.chance(0.3) && {
      convertToLlm: createBroken(
        environment,
        (message: AgentMessage): LlmMessage | null => message.role === "custom" ? null : message,
      ),
    }),
    ...(random.chance(0.3) && {
      getApiKey: () =>
        environment.rarely(
          () => random.chance(0.5) ? environment.fail() : randomReturnValue(random) as string,
          () => "key",
        ),
    }),
  };
}

/** Creates random options of one run. */
export function randomRunOptions(environment: FuzzEnvironment): RunOptions {
  const { random, foreignObjects } = environment;
  if (environment.isWellBehaved) return {};
  const extra = createTool(environment, "extra", () => "extra");
  const context = random.chance(0.4) ? { database: { rows: random.integer(9) } } : undefined;
  collectObjects(context, foreignObjects);
  return {
    ...(random.chance(0.2) && { maxTurns: 1 + random.integer(3) }),
    ...(random.chance(0.2) && {
      toolChoice: random.oneOf(["auto", "none", "required", { name: "fast" }]),
    }),
    ...(random.chance(0.2) && { streamOptions: { temperature: 0.5, maxTokens: 9 } }),
    ...(random.chance(0.3) && { tools: [extra] }),
    ...(random.chance(0.3) && { policies: [randomPolicy(environment)] }),
    ...(context && { context }),
  };
}

/** Creates a decision on a pending call, and records it. */
export function randomDecision(
  { random, ledger }: Pick<FuzzEnvironment, "random" | "ledger">,
  { toolCallId, arguments: args }: Pick<ApprovalRequest, "toolCallId" | "arguments">,
): ApprovalDecision | boolean {
  const edited = { n: random.integer(9) };
  return random.create<ApprovalDecision | boolean>([
    () => {
      ledger.approve(toolCallId, args);
      return random.oneOf<ApprovalDecision | true>([true, { type: "approved", scope: "tool" }]);
    },
    () => {
      ledger.approve(toolCallId, edited);
      return { type: "approved", arguments: edited, origin: "person" };
    },
    () => {
      ledger.refuse(toolCallId, "it was denied");
      return random.oneOf<ApprovalDecision | false>([false, { type: "denied", reason: "no" }]);
    },
    () => {
      ledger.refuse(toolCallId, "its edited arguments are invalid");
      return { type: "approved", arguments: { n: "wrong" } };
    },
    () => {
      ledger.refuse(toolCallId, "the decision is invalid");
      return { type: "approved", arguments: randomInvalidArguments(random.integer(3)) };
    },
  ]);
}

function randomInvalidArguments(kind: number): JsonObject {
  const invalid: unknown[] = [createCycle(), "text", { n: 10n }];
  return invalid[kind] as JsonObject;
}

/** Answers a request for an approval: with a decision, nonsense, a failure, or not yet. */
function answerRequest(
  environment: FuzzEnvironment,
  request: ApprovalRequest,
): ApprovalAnswer | Promise<ApprovalAnswer> {
  const { random, foreignObjects } = environment;
  const { toolCallId } = request;
  // The approval also decides about the calls of the agents below, which may have the same ids.
  const isOwn = environment.tools.has(request.tool);
  const ledger = isOwn ? environment.ledger : new CallLedger();
  const args = structuredClone(request.arguments);
  collectObjects(request.arguments, foreignObjects);
  if (request.context !== environment.context) {
    environment.ledger.violations.push("approve got another context");
  }
  if (environment.isWellBehaved) return true;
  ledger.refuse(toolCallId, "its approval is pending or failed");
  const answer = random.create<ApprovalAnswer | Promise<ApprovalAnswer>>([
    () => randomDecision({ random, ledger }, { toolCallId, arguments: args }),
    () => randomDecision({ random, ledger }, { toolCallId, arguments: args }),
    () => randomDecision({ random, ledger }, { toolCallId, arguments: args }),
    () => ({ type: "pending" }),
    () => ({ type: "pending" }),
    () => ({ type: "pending" }),
    () => randomMalformedDecision({ random, ledger }, { toolCallId, arguments: args }),
    () => environment.fail(),
  ]);
  Object.assign(request.arguments, { stolen: true });
  return random.chance(0.5) ? answer : Promise.resolve(answer);
}

/** Creates an answer that an untyped function may give; one whose arguments are an object approves. */
function randomMalformedDecision(
  { random, ledger }: Pick<FuzzEnvironment, "random" | "ledger">,
  { toolCallId, arguments: args }: Pick<ApprovalRequest, "toolCallId" | "arguments">,
): ApprovalAnswer {
  const nonsense = randomNonsense(random);
  return random.create<unknown>([
    () => {
      if (nonsense === true) ledger.approve(toolCallId, args);
      return nonsense;
    },
    () => ({ type: "denied", reason: nonsense }),
    () => ({ type: "pending", arguments: nonsense }),
    () => {
      ledger.approve(toolCallId, args);
      return { type: "approved", rule: nonsense, scope: nonsense, prefix: nonsense };
    },
    () => {
      if (!isJsonObject(nonsense)) return { type: "approved", arguments: nonsense };
      return { type: "denied" };
    },
  ]) as ApprovalAnswer;
}

/** Creates a function that selects messages, reports what it omits, and sometimes fails. */
function createTransform(environment: FuzzEnvironment): TransformContext {
  const { random, foreignObjects } = environment;
  return (messages, { overflow }) =>
    environment.rarely(() =>
      random.create<ReturnType<TransformContext>>([
        () => environment.fail(),
        () => randomReturnValue(random) as [],
        () => [randomNonsense(random) as AgentMessage],
        () => ({ messages, report: randomNonsense(random) as never }),
      ]), () => {
      if (!overflow) return messages;
      const report = {
        droppedCount: messages.length - 1,
        tokensBefore: 9,
        tokensAfter: 1,
        droppedMessages: messages.slice(0, -1).filter(({ role }) =>
          role !== "custom"
        ) as LlmMessage[],
        ...(random.chance(0.5) && { usage: randomUsage(random) }),
        ...(random.chance(0.5) && { cost: randomCost(random) }),
      };
      collectObjects(report, foreignObjects);
      return random.chance(0.5) ? messages.slice(-1) : { messages: messages.slice(-1), report };
    });
}
