/**
 * What one needs to test an agent without a model, a network or a clock.
 *
 * Nothing here registers a test or needs a permission; it works under any test runner.
 *
 * @module
 */

export { collectEvents } from "./collect_events.ts";
export { checkedStream, checkEvents, EventGrammar, findViolation } from "./event_grammar.ts";
export { EventOrderError, type EventRule, type EventViolation } from "./event_violation.ts";
export {
  type FakeAnswer,
  type FakeResult,
  type FakeTool,
  fakeTool,
  type FakeToolCall,
  type FakeToolOptions,
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
  type ReplayAnswer,
  type ReplayFetch,
  replayFetch,
  type ReplayFixture,
  type ReplayOptions,
  type ReplayRequest,
  type ReplayResponse,
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
  type MakeSessionStore,
  type SessionStoreFixture,
  testSessionStore,
} from "./session_conformance.ts";
export type { Sleep } from "../core/ports.ts";
export { testStreamFn } from "./stream_conformance.ts";
export type {
  ExpectedReply,
  MakeStreamFn,
  RefusalFixture,
  RegisterTest,
  ReplyFixture,
  StreamFnFixtures,
  StreamFnLimits,
} from "./stream_fixture.ts";
