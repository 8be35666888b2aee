/**
 * Random tools: fast, slow, hanging, throwing, and with results of any kind.
 *
 * @module
 */

import type { AgentEvent } from "../../src/core/events/event.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { AgentTool, ToolContext } from "../../src/core/tools/tool.ts";
import type { FuzzEnvironment } from "./engine_fuzz_environment.ts";
import { collectObjects } from "./engine_fuzz_objects.ts";
import {
  createCycle,
  randomCost,
  randomJson,
  randomNonsense,
  randomReturnValue,
  randomThrown,
  randomUsage,
} from "./engine_fuzz_values.ts";

type Execute = (args: JsonObject, context: ToolContext) => unknown;

const parameters = {
  type: "object",
  properties: { n: { type: "number" }, key: { type: "string" }, prompt: { type: "string" } },
};

/** Creates one tool of each kind. */
export function randomTools(environment: FuzzEnvironment): AgentTool[] {
  const { random, toolClock } = environment;
  const tool = (name: string, execute: Execute): AgentTool =>
    createTool(environment, name, execute);
  return [
    tool("fast", () => "done"),
    tool("slow", async (_args, { signal }) => {
      await toolClock.sleep(random.integer(80), signal);
      return signal.aborted ? "stopped" : "done";
    }),
    tool("ignores_signal", async () => {
      await toolClock.sleep(random.integer(300));
      return "done";
    }),
    Object.assign(tool("stuck", () => new Promise(() => {})), {
      timeoutMs: random.oneOf([50, Infinity]),
    }),
    tool("throwing", () => environment.sometimes(1, () => environment.fail(), () => "done")),
    tool("updating", async (_args, { onUpdate, signal }) => {
      for (let count = random.integer(200); count > 0; count--) onUpdate(`${count} left`);
      environment.sometimes(0.3, () => onUpdate(randomNonsense(random) as string), () => {});
      await toolClock.sleep(random.integer(50), signal);
      queueMicrotask(() => onUpdate("late"));
      void toolClock.sleep(200).then(() => onUpdate("very late"));
      return { content: [], details: { a: 1 } };
    }),
    tool("greedy", (args) => {
      Object.assign(args, { stolen: true });
      return undefined;
    }),
    tool("any", () => environment.sometimes(0.9, () => randomOutput(environment), () => "done")),
    tool("counting", () => ({
      content: [{ type: "text", text: "counted" }],
      ...(random.chance(0.8) && { usage: randomUsage(random) }),
      ...(random.chance(0.8) && { cost: randomCost(random) }),
    })),
  ];
}

/** Creates a tool that forwards events as if it ran agents, some of them malformed or late. */
export function createForwardingTool(environment: FuzzEnvironment): AgentTool {
  const { random, toolClock } = environment;
  return createTool(environment, "forwarding", async (_args, { onEvent, signal }) => {
    const forward = (): Promise<void> =>
      onEvent(random.create<AgentEvent>([
        () => ({ type: "agent_start", runId: "sub", seq: 1 }),
        () => ({ type: "turn_start", turn: random.integer(3) }),
        () => ({ type: "sub_agent", path: ["x"], event: { type: "turn_start", turn: 1 } }),
        () => ({ type: "custom", name: "c", data: randomJson(random) }),
      ]));
    for (let count = random.integer(6); count > 0; count--) {
      if (random.chance(0.5)) await forward();
      else void forward();
      if (random.chance(0.3)) await toolClock.sleep(random.integer(20), signal);
    }
    void toolClock.sleep(50).then(forward);
    return "done";
  });
}

/** Creates a tool that records its calls, with random properties. */
export function createTool(
  environment: FuzzEnvironment,
  name: string,
  execute: Execute,
): AgentTool {
  const { random, ledger, foreignObjects } = environment;
  const readKey = ({ key }: JsonObject): string => String(key);
  const variants: Partial<AgentTool>[] = [
    {},
    {},
    { sequential: true },
    { concurrencyKey: readKey },
    { concurrencyKey: createBroken(environment, readKey) },
    { interruptible: false },
    { timeoutMs: 20 },
    { readOnly: true },
    { requiresApproval: createBroken(environment, () => false) },
    {
      preview: () =>
        environment.sometimes(0.5, () => environment.fail(), () => Promise.resolve([])),
    },
  ];
  const tool: AgentTool = {
    name,
    description: "",
    parameters,
    ...random.oneOf(variants),
    execute: (args, context) => {
      ledger.start(context.toolCallId, tool);
      ledger.execute(context.toolCallId, args);
      if (context.context !== environment.context) {
        ledger.violations.push(`call ${context.toolCallId} got another context`);
      }
      collectObjects(args, foreignObjects);
      const collect = <Value>(output: Value): Value => {
        collectObjects(output, foreignObjects);
        return output;
      };
      const output = execute(args, context);
      return (output instanceof Promise ? output.then(collect) : collect(output)) as Promise<
        string
      >;
    },
  };
  environment.tools.add(tool);
  return tool;
}

/** Returns a synchronous function that sometimes throws, or returns a promise or nonsense. */
export function createBroken<Value, Input>(
  environment: FuzzEnvironment,
  work: (input: Input) => Value,
): (input: Input) => Value {
  const { random } = environment;
  return (input) =>
    environment.rarely(() =>
      random.create<Value>([
        () => {
          throw randomThrown(random);
        },
        () => Promise.resolve(work(input)) as Value,
        () => Promise.reject(randomThrown(random)) as Value,
        () => randomReturnValue(random) as Value,
      ]), () => work(input));
}

/** Creates any value that a tool may return, of which it changes some later. */
function randomOutput({ random, toolClock }: FuzzEnvironment): unknown {
  const text = { type: "text", text: "result" };
  return random.create<unknown>([
    () => undefined,
    () => randomJson(random),
    () => randomReturnValue(random),
    () => ({ content: [text], details: randomJson(random), isError: random.chance(0.5) }),
    () => ({ content: [text], details: createCycle() }),
    () => ({ content: [text], details: { list: [randomNonsense(random)] } }),
    () => ({ content: [{ ...text, data: randomNonsense(random) }] }),
    () => ({
      content: [text],
      isError: "yes",
      usage: randomUsage(random),
      cost: randomCost(random),
    }),
    () => ({ content: "text" }),
    () => ({ content: [null] }),
    () => ({ content: [{ type: "text" }] }),
    () => ({ content: [{ type: "tool_call", id: "a", name: "fast", arguments: {} }] }),
    () => ({ content: [{ type: "image", source: { type: "file", path: "missing.png" } }] }),
    () => ({ content: [text], unknown: true }),
    () => {
      const output = { content: [{ ...text }], details: { list: [1] } };
      void toolClock.sleep(1).then(() => {
        Object.assign(output.content[0] ?? {}, { text: "changed" });
        output.details.list.push(2);
      });
      return output;
    },
  ]);
}
