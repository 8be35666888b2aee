/**
 * Tests agents without a model, a network or a clock.
 *
 * {@linkcode scriptedStream} is a model that answers from a script, {@linkcode fakeTool} a tool that records its calls,
 * {@linkcode replayFetch} a `fetch` that answers from fixtures, and {@linkcode ManualClock} a clock that advances on
 * demand. {@linkcode testToolContext} creates the context to call a tool of your own. {@linkcode checkEvents} verifies
 * the order of the events of a run, {@linkcode chaos} injects faults from a seed, and {@linkcode testStreamFn},
 * {@linkcode testSessionStore} and {@linkcode testDurableEngine} are the tests that every stream function, every session
 * store and every durable engine must pass. Nothing here registers a test on import or needs a permission, and all of it
 * works with any test runner.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { checkEvents, fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const streamFn = scriptedStream([
 *   reply([toolCall("add", { left: 2, right: 3 })]),
 *   reply("The sum is 5."),
 * ]);
 * const add = fakeTool({ name: "add", result: "5" });
 * const agent = new Agent({ model: "test/model", streamFn, tools: [add] });
 *
 * await checkEvents(agent.promptStream("Add 2 and 3")); // throws if an event is out of order
 * add.calls[0]?.arguments; // { left: 2, right: 3 }
 * streamFn.assertDone(); // throws if the script was not played to its end
 * ```
 *
 * @example Test a tool, and a timeout without waiting
 * ```ts
 * import { Agent, defineTool } from "@swink/agent";
 * import {
 *   fakeTool,
 *   ManualClock,
 *   reply,
 *   scriptedStream,
 *   testToolContext,
 *   toolCall,
 * } from "@swink/agent/testing";
 *
 * const double = defineTool({
 *   name: "double",
 *   description: "Doubles a number.",
 *   parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
 *   execute: ({ n }) => `${2 * n}`,
 * });
 * await double.execute({ n: 2 }, testToolContext()); // "4"
 *
 * const clock = new ManualClock();
 * const { now, sleep } = clock;
 * const stuck = fakeTool({ name: "stuck", delayMs: Infinity, timeoutMs: 30_000 });
 * const streamFn = scriptedStream([reply([toolCall("stuck")]), reply("It does not answer.")]);
 * const agent = new Agent({ model: "test/model", streamFn, tools: [stuck], now, sleep });
 *
 * const running = agent.prompt("Try it");
 * while (clock.sleepers === 0) await new Promise((resolve) => setTimeout(resolve));
 * clock.advance(30_000);
 * (await running).text; // "It does not answer."
 * ```
 *
 * @module
 */

export { type Chaos, chaos, type ChaosOptions } from "./chaos.ts";
export type { ChaosFault, InjectedFault } from "./chaos_plan.ts";
export { collectEvents } from "./collect_events.ts";
export {
  type DurableEngineFactory,
  type DurableEngineFixture,
  testDurableEngine,
} from "./durable_conformance.ts";
export {
  checkEvents,
  checkStream,
  EventGrammar,
  type EventGrammarOptions,
  findViolation,
} from "./event_grammar.ts";
export { EventOrderError, type EventRule, type EventViolation } from "./event_violation.ts";
export {
  type FakeTool,
  fakeTool,
  type FakeToolCall,
  type FakeToolOptions,
  type FakeToolOutput,
  type FakeToolResult,
} from "./fake_tool.ts";
export {
  assistantMessage,
  text,
  thinking,
  toolCall,
  type ToolCallOptions,
  toolResultMessage,
} from "./messages.ts";
export {
  type CassetteFetch,
  type CassetteFiles,
  type CassetteOptions,
  type CassettePath,
  recordFetch,
  type RecordingFetch,
  type RecordOptions,
  replayCassette,
} from "../cassettes/mod.ts";
export { ManualClock } from "./manual_clock.ts";
export {
  type ReplayFetch,
  replayFetch,
  type ReplayFixture,
  type ReplayOptions,
  type ReplayRequest,
  type ReplayResponse,
  type ReplayResult,
} from "./replay_fetch.ts";
export {
  endWithoutTerminal,
  fail,
  type FailOptions,
  hang,
  type HangOptions,
  reply,
  type ReplyBlock,
  type ReplyContent,
  type ReplyOptions,
  type ScriptedAnswer,
  type ScriptedEvents,
  type ScriptedStep,
} from "./script.ts";
export {
  type ScriptedStream,
  scriptedStream,
  type ScriptedStreamOptions,
} from "./scripted_stream.ts";
export { seededRandom } from "./seeded_random.ts";
export {
  type SessionStoreFactory,
  type SessionStoreFixture,
  testSessionStore,
} from "./session_conformance.ts";
export type { Sleep } from "../core/ports/ports.ts";
export { testStreamFn } from "./stream_conformance.ts";
export { testToolContext } from "./test_tool_context.ts";
export type {
  ErrorFixture,
  ExpectedReply,
  RegisterTest,
  ReplyFixture,
  StreamFnFactory,
  StreamFnFixtures,
  StreamFnLimits,
} from "./stream_fixture.ts";
