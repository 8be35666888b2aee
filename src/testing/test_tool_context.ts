/**
 * The context of a tool call, for tests of tools.
 *
 * @module
 */

import { checkObject } from "../core/checks/check_object.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { RunHandle } from "../core/events/run_handle.ts";
import { modelSpec } from "../core/models/model.ts";
import type { ToolContext } from "../core/tools/tool.ts";
import { resolveConfig } from "../loop/run/config.ts";
import { ParentRun, RunTree } from "../loop/run/parent_run.ts";
import { scriptedStream } from "./scripted_stream.ts";

/**
 * Creates the context of a tool call, to call `execute` of a tool in a test. What is not given has a default: the id
 * `"call_1"`, turn 1, an empty history, a run that approves every call and starts no background work, a signal that is
 * never aborted, and callbacks that do nothing.
 *
 * `execute` gets the arguments as they are: a run validates them, and applies the defaults and transforms of the schema.
 *
 * @example
 * ```ts
 * import { defineTool } from "@swink/agent";
 * import { testToolContext } from "@swink/agent/testing";
 *
 * const double = defineTool({
 *   name: "double",
 *   description: "Doubles a number.",
 *   parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
 *   execute: ({ n }) => `${2 * n}`,
 * });
 * await double.execute({ n: 2 }, testToolContext());
 * ```
 */
export function testToolContext<Context = undefined>(
  given: Partial<ToolContext<Context>> = {},
): ToolContext<Context> {
  checkObject(given, 'Pass properties such as { runId: "run_2" }');
  const { runId = "run_1", toolCallId = "call_1" } = given;
  const defaults: ToolContext = {
    toolCallId,
    idempotencyKey: `${runId}:${toolCallId}`,
    runId,
    run: createTestRun(runId),
    turn: 1,
    context: undefined,
    messages: [],
    signal: new AbortController().signal,
    onUpdate: () => {},
    onEvent: () => Promise.resolve(),
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) } as ToolContext<Context>;
}

/** Creates a run without rules; its model has no replies. */
function createTestRun(runId: string): RunHandle {
  const model = modelSpec("test/model");
  return new ParentRun({
    runId,
    depth: 0,
    config: resolveConfig({ model, streamFn: scriptedStream([]) }),
    settings: { model, systemPrompt: "", tools: [] },
    tree: new RunTree(),
    background: () => {
      throw new BadRequestError(
        "testToolContext() starts no background work: pass a `run` of your own",
      );
    },
  });
}
