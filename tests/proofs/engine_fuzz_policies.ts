/**
 * Random policies: observing, changing, stopping, hanging and throwing.
 *
 * @module
 */

import type {
  ChangeVerdict,
  Policy,
  PreDispatchContext,
  PreRequestContext,
} from "../../src/core/hooks/policy.ts";
import { type AgentMessage, userMessage } from "../../src/core/messages/message.ts";
import type { AgentToolResult } from "../../src/core/messages/tool_result.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../src/testing/messages.ts";
import type { FuzzEnvironment } from "./engine_fuzz_environment.ts";
import { collectObjects } from "./engine_fuzz_objects.ts";
import type { RandomSource } from "./engine_fuzz_random.ts";
import {
  randomCost,
  randomJson,
  randomNonsense,
  randomReturnValue,
  randomThrown,
  randomUsage,
} from "./engine_fuzz_values.ts";

/** Probability that a policy changes, stops or extends the run. */
const PROBABILITY = 0.1;

/** Creates a policy that does nothing if the environment is well-behaved. */
export function randomPolicy(environment: FuzzEnvironment): Policy {
  const { random } = environment;
  const sometimes = <Verdict>(act: () => Verdict): Verdict | undefined =>
    environment.sometimes(PROBABILITY, act, () => undefined);
  const rarely = <Verdict>(act: () => Verdict): Verdict | undefined =>
    environment.rarely(act, () => undefined);
  const fail = () => environment.fail();
  const stop = () =>
    ({
      type: "stop",
      reason: random.chance(0.9) ? "enough" : randomNonsense(random) as string,
    }) as const;
  const inject = () => ({ type: "inject", messages: randomInjection(environment) }) as const;
  const nonsense = () => randomReturnValue(random) as never;
  return random.create<Policy>([
    () => ({ name: "stops", preTurn: () => sometimes(stop), postTurn: () => sometimes(stop) }),
    () => ({
      name: "injects",
      preTurn: () => sometimes(inject),
      postTurn: () => sometimes(inject),
    }),
    () => ({
      name: "fails",
      preTurn: () => rarely(fail),
      postTurn: () => rarely(fail),
      postLoop: () => rarely(fail),
    }),
    () => ({
      name: "returns nonsense",
      preTurn: () => rarely(nonsense),
      preRequest: () => rarely(nonsense),
      postTurn: () => rarely(nonsense),
      postLoop: () => rarely(nonsense),
    }),
    () => ({
      name: "checks requests",
      preRequest: (context) => {
        assertContext(environment, context);
        return rarely(fail) ??
          sometimes(() =>
            random.create<ReturnType<NonNullable<Policy["preRequest"]>>>([
              () => randomChange(environment, context),
              () => randomChange(environment, context),
              () => Promise.resolve(randomChange(environment, context)),
              stop,
            ])
          );
      },
    }),
    () => ({
      name: "guards calls",
      preDispatch: (context) => guardCall(environment, context),
      postDispatch: () => rarely(fail),
    }),
    () => ({
      name: "replaces results",
      postDispatch: ({ result }) => {
        sometimes(() => Object.assign(result, { content: [] }));
        return sometimes(() => randomReplacement(environment));
      },
    }),
    () => ({
      name: "watches the reply",
      onDelta: () =>
        environment.sometimes(
          0.03,
          () =>
            random.create<ReturnType<NonNullable<Policy["onDelta"]>>>([
              stop,
              nonsense,
              () => Promise.resolve(stop()) as never,
              () => {
                throw randomThrown(random);
              },
            ]),
          () => undefined,
        ),
    }),
  ]);
}

/** Creates a policy that withdraws tools and offers them again, at any moment, and sometimes fails. */
export function randomToolLimit(environment: FuzzEnvironment): Policy {
  const { toolRandom, tools, ledger } = environment;
  const withdrawn = new Set<AgentTool>();
  ledger.watchWithdrawals(withdrawn);
  const isWithdrawn = (): boolean => !environment.isWellBehaved && toolRandom.chance(0.15);
  return {
    name: "limits tools",
    canUseTool: (offered) => {
      const isLimited = isWithdrawn();
      if (offered.type === "tool" && tools.has(offered.tool)) {
        if (isLimited) withdrawn.add(offered.tool);
        else withdrawn.delete(offered.tool);
      }
      if (!isLimited) return true;
      return toolRandom.create<boolean>([
        () => false,
        () => false,
        () => randomNonFlag(toolRandom) as boolean,
        () => {
          throw randomThrown(toolRandom);
        },
      ]);
    },
    // The policy may be one of a single run.
    postLoop: () => withdrawn.clear(),
  };
}

/** Creates a value that is not `true`, as an untyped policy may return it. */
function randomNonFlag(random: RandomSource): unknown {
  const value = randomReturnValue(random);
  return value === true ? "true" : value;
}

/** Skips, stops, changes arguments, injects or fails; records every call that must not run. */
function guardCall(
  environment: FuzzEnvironment,
  context: PreDispatchContext,
): ReturnType<NonNullable<Policy["preDispatch"]>> {
  const { random, ledger, tools } = environment;
  const { arguments: args, toolCallId, tool } = context;
  assertContext(environment, context);
  const refuse = (reason: string): void => {
    if (tools.has(tool)) ledger.refuse(toolCallId, reason);
  };
  const act = () =>
    random.create<ReturnType<NonNullable<Policy["preDispatch"]>>>([
      () => {
        args["n"] = random.oneOf<unknown>([1, "wrong"]);
      },
      () => {
        args["key"] = randomNonsense(random);
      },
      () => {
        refuse("a policy skipped it");
        return {
          type: "skip",
          reason: random.chance(0.9) ? "no" : randomNonsense(random) as string,
        };
      },
      () => {
        refuse("a policy stopped the run");
        return { type: "stop", reason: "enough" };
      },
      () => ({ type: "inject", messages: randomInjection(environment) }),
      () => {
        refuse("a policy failed");
        args["n"] = 7;
        return environment.fail();
      },
    ]);
  return environment.sometimes(PROBABILITY, act, () => undefined);
}

function assertContext(
  { ledger, context: expected }: FuzzEnvironment,
  { context }: Pick<PreRequestContext, "context">,
): void {
  if (context !== expected) ledger.violations.push("a policy got another context");
}

/** Creates messages that a policy adds, some of which would make the history invalid. */
function randomInjection({ random }: FuzzEnvironment): AgentMessage[] {
  const call = toolCall("fast", {}, { id: "a" });
  return random.create<AgentMessage[]>([
    () => [userMessage("hint", 0)],
    () => [],
    () => [assistantMessage([call])],
    () => [toolResultMessage(call, "made up")],
    () => [{ role: "custom", type: "note", data: null, timestamp: 0, id: "note" }],
    () => [userMessage("hint", 0), { ...userMessage("hint", 0), id: "note" }],
    () => randomNonsense(random) as AgentMessage[],
    () => [randomNonsense(random) as AgentMessage],
  ]);
}

/** Creates a change of a request, some of them invalid. */
function randomChange(
  environment: FuzzEnvironment,
  { request: { context: { messages } } }: PreRequestContext,
): ChangeVerdict {
  const { random } = environment;
  const model = { provider: "test", modelId: "cheap", thinkingLevel: "off" } as const;
  return {
    type: "change",
    ...(random.chance(0.3) && { model }),
    ...(random.chance(0.3) && { systemPrompt: "Be brief" }),
    ...(random.chance(0.3) && {
      messages: random.create<typeof messages>([
        () => messages.slice(-1),
        () => messages.slice(),
        () => [],
        () => randomNonsense(random) as typeof messages,
        () => [randomNonsense(random) as typeof messages[0] & object],
      ]),
    }),
    ...(random.chance(0.2) && { tools: random.chance(0.8) ? [] : randomNonsense(random) as [] }),
    ...(random.chance(0.2) && { toolChoice: random.oneOf(["auto", "none", "required"]) }),
    ...(random.chance(0.2) && {
      options: random.chance(0.8) ? { maxTokens: 5 } : randomNonsense(random) as object,
    }),
  };
}

/** Creates a result that replaces that of a tool; any JSON value may. */
function randomReplacement({ random, foreignObjects }: FuzzEnvironment): AgentToolResult {
  const content = [{ type: "text", text: "replaced" }] as const;
  const replacement = random.create<unknown>([
    () => ({ content }),
    () => ({ content: content.slice(), isError: true }),
    () => ({ content, usage: randomUsage(random), cost: randomCost(random) }),
    () => "text",
    () => randomJson(random),
    () => randomReturnValue(random),
  ]);
  collectObjects(replacement, foreignObjects);
  return replacement as AgentToolResult;
}
