/**
 * Building blocks for adapters: {@linkcode createStreamFn} for providers with an HTTP API, and the functions it is made
 * of. `docs/add_an_adapter.md` in the repository describes a complete adapter.
 *
 * @example
 * ```ts
 * import {
 *   type AdapterOptions,
 *   createStreamFn,
 *   readText,
 *   resolveSettings,
 *   SseParser,
 *   zeroUsage,
 * } from "@swink/agent/adapters/kit";
 * import { extractText, type StreamFn } from "@swink/agent";
 *
 * export function createEcho(options: AdapterOptions = {}): StreamFn {
 *   const settings = resolveSettings(options, "https://echo.example");
 *   return createStreamFn({
 *     settings,
 *     apiKey: options.apiKey,
 *     createParser: () => new SseParser(),
 *     createReplyReader: ({ writer }) => ({
 *       read(data) {
 *         const { text, done } = JSON.parse(data);
 *         writer.writeText(readText(text));
 *         if (done) writer.finish({ stopReason: "stop", usage: zeroUsage() });
 *       },
 *     }),
 *     prepare: ({ request }, key) => ({
 *       url: `${settings.baseUrl}/chat`,
 *       headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
 *       body: JSON.stringify(request.context.messages.map(({ content }) => extractText(content))),
 *     }),
 *   });
 * }
 * ```
 *
 * @module
 */

// Stream functions
export {
  appendQuery,
  createStreamFn,
  type FallbackUrl,
  type OutgoingRequest,
  type Provider,
  type ProviderCall,
} from "./provider.ts";
export {
  type EventStreamOptions,
  type Exchange,
  type FrameParser,
  type OpenReply,
  type ReplyReader,
  ResponseSize,
  toEventStream,
} from "./stream/event_stream.ts";
export { failedStream, lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
export {
  type ReplyTarget,
  streamFnFrom,
  type WriteReply,
} from "../../src/core/streams/stream_fn_from.ts";
export { withCatalog } from "./request/with_catalog.ts";
export {
  CLAUDE_KEYWORDS,
  isStrictSchema,
  OPENAI_KEYWORDS,
  type StrictKeywords,
  toStrictSchema,
} from "./request/strict_schema.ts";
export type {
  AssistantMessageEvent,
  BlockDeltaEvent,
  BlockEndEvent,
  BlockStartEvent,
  CacheRetention,
  ExtensionEvent,
  LlmContext,
  ReasoningSummary,
  ServiceTier,
  StreamDoneEvent,
  StreamErrorEvent,
  StreamFn,
  StreamOptions,
  StreamRequest,
  StreamStartEvent,
  StreamWarningEvent,
  ToolCallStartEvent,
  ToolChoice,
  ToolSpec,
  Verbosity,
} from "../../src/core/streams/stream.ts";
export { VersionedUrl } from "./versioned_url.ts";

// Replies
export {
  type BlockEndOptions,
  BlockWriter,
  type FinishedReply,
} from "../../src/core/streams/block_writer.ts";
export {
  type AccumulatedReply,
  type ArgumentsState,
  type FinishedCall,
  ReplyAccumulator,
} from "../../src/core/streams/accumulate.ts";
export { type Cost, type Usage, zeroCost, zeroUsage } from "../../src/core/models/usage.ts";
export { type CallStart, type CallTarget, CallWriter } from "./stream/call_writer.ts";
export { findEnding, type StopReasons, warnUnknownStopReason } from "./stream/stop_reasons.ts";
export { UnknownParts } from "./stream/unknown_parts.ts";
export { LineDecoder } from "./stream/line_decoder.ts";
export { JsonEventParser } from "./stream/json_event_parser.ts";
export { NdjsonParser } from "./stream/ndjson.ts";
export { type SseOptions, SseParser } from "./stream/sse.ts";
export {
  countOrZero,
  objectsOrEmpty,
  readList,
  readObject,
  readText,
  textOrEmpty,
  toArgumentsText,
} from "./stream/wire_values.ts";
export { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
export { parseJsonOrUndefined } from "../../src/core/json/parse_json.ts";

// Options
export {
  type AcquireOptions,
  type AdapterOptions,
  type AdapterSettings,
  type ApiKey,
  type ApiKeySource,
  findApiKey,
  hasKeyHeader,
  type RequestLimiter,
  requireApiKey,
  resolveSettings,
} from "./options/adapter_options.ts";
export {
  checkAdapterOptions,
  checkOptionNames,
  refuseUnknownOptions,
} from "./options/check_options.ts";
export { type ReadEnvironment, readEnvironmentVariable } from "./options/environment.ts";
export { RateLimiter, type RateLimiterOptions } from "./limits/rate_limiter.ts";
export { type Clock, type Sleep, systemClock } from "../../src/core/ports/ports.ts";

// Requests
export type {
  ImageSource,
  MediaSource,
  ProviderFileSource,
} from "../../src/core/messages/content.ts";
export type {
  CodeExecutionTool,
  FileSearchTool,
  ProviderTool,
  UserLocation,
  WebFetchTool,
  WebSearchTool,
} from "../../src/core/streams/server_tool.ts";
export { type RequestName, ServerRequests } from "./stream/server_requests.ts";
export { countTierRequest, type ServedTier } from "./stream/service_tier.ts";
export { post, type PostRequest } from "./http/post.ts";
export { type AccessToken, AccessTokenCache, type GetToken } from "./http/access_token.ts";
export { abortable } from "../../src/core/ports/abortable.ts";
export {
  CONTINUE,
  createCallIdEncoder,
  createMediaTitle,
  getTextAndMedia,
  hasText,
  isMedia,
  isOwnReply,
  MISSING_PROMPT,
  toResultText,
} from "./request/history.ts";
export { adaptContent, COMMON_IMAGES, WEB_URLS } from "./request/adapt_content.ts";
export type { ContentAbilities, MediaAbility } from "./request/content_abilities.ts";
export {
  createUnreadFileError,
  getFileName,
  getMediaType,
  type MediaBlock,
  toMediaUrl,
} from "./request/media.ts";
export {
  CALL_ID_RULE,
  createNameDecoder,
  hashText,
  type NameRule,
  TOOL_NAME_RULE,
  toWireName,
} from "./request/wire_names.ts";
export { decodeBase64Text, isUsualBase64 } from "./request/base64_text.ts";
export { Omissions } from "./request/omissions.ts";
export type { ReplayRules, SignedBlock } from "./request/replay_rules.ts";
export {
  BOOLEAN_SHAPE,
  listShape,
  type MemberShapes,
  NUMBER_SHAPE,
  OBJECT_SHAPE,
  objectShape,
  optionalShape,
  patternShape,
  type Shape,
  TEXT_SHAPE,
  TYPED_OBJECT_SHAPE,
  typedShape,
  unionShape,
} from "./request/item_shapes.ts";
export { encodeModelPath } from "./request/model_path.ts";
export { mergeExtraFields, serializeJson } from "./request/json_body.ts";
export {
  type OptionalOption,
  resolveMaxTokens,
  resolveServiceTier,
  resolveSessionId,
  resolveStop,
  resolveTemperature,
  resolveTopP,
  type ServiceTierNames,
  warnTierPrice,
  warnUnsupportedOptions,
  warnUnsupportedThinking,
} from "./request/model_limits.ts";
export { EFFORT_BY_LEVEL, resolveBudget, resolveEffort } from "./request/thinking.ts";
export {
  omitReplaced,
  type ServerToolFormat,
  type ServerToolFormats,
  toServerTools,
} from "./request/server_tools.ts";
export { toToolSchema } from "./request/tool_schema.ts";
export { canChooseTool, sortTools } from "./request/tools.ts";
export type { WarningSink } from "./request/warnings.ts";

// Models
export { ModelFinder } from "./request/model_finder.ts";
export {
  type Catalog,
  catalog,
  type CatalogEntry,
  findModel,
  type ThinkingAbility,
  type ThinkingEffort,
  type ThinkingOff,
} from "../catalog/catalog.ts";

// Errors
export type { AgentErrorOptions } from "../../src/core/errors/errors.ts";
export {
  classifyResponse,
  classifyStreamError,
  type ErrorOrigin,
  type ErrorResponse,
} from "./errors/classify.ts";
export { isErrorEvent, isErrorValue } from "./errors/error_body.ts";
export { getErrorMessage } from "../../src/core/errors/errors.ts";
export { redact } from "../../src/core/text/redact.ts";
export {
  AUTH,
  BAD_REQUEST,
  type ErrorClassification,
  type ErrorTable,
  FILTERED,
  OVERFLOW,
  QUOTA,
  THROTTLED,
  UNAVAILABLE,
  UNKNOWN,
  UNKNOWN_MODEL,
} from "./errors/error_table.ts";
