/**
 * What one needs to test an agent without a model, a network or a clock.
 *
 * Nothing here registers a test or needs a permission; it works under any test runner.
 *
 * @module
 */

export { collectEvents } from "./collect_events.ts";
export { checkEvents, checkStream, EventGrammar, findViolation } from "./event_grammar.ts";
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
export type { Sleep } from "../core/ports.ts";
export { testStreamFn } from "./stream_conformance.ts";
export type {
  ErrorFixture,
  ExpectedReply,
  RegisterTest,
  ReplyFixture,
  StreamFnFactory,
  StreamFnFixtures,
  StreamFnLimits,
} from "./stream_fixture.ts";
