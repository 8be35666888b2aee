/**
 * Stream function for Amazon Bedrock; `createBedrock()` loads it on the first request.
 *
 * @module
 */

import { AuthError, BadRequestError, getErrorMessage } from "../../src/core/errors/errors.ts";
import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import { FALLBACK_CLAUDE } from "../anthropic/fallback_entry.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import {
  type AdapterOptions,
  type AdapterSettings,
  type ApiKey,
  hasKeyHeader,
  resolveSettings,
} from "../kit/options/adapter_options.ts";
import { checkAdapterOptions, checkOptionNames } from "../kit/options/check_options.ts";
import { appendQuery, createStreamFn, type OutgoingRequest } from "../kit/provider.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { ModelFinder } from "../kit/request/model_finder.ts";
import { encodeModelPath } from "../kit/request/model_path.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import { BEDROCK_ERRORS } from "./errors.ts";
import { EventCodec } from "./event_codec.ts";
import { EventStreamParser } from "./event_stream_parser.ts";
import { getModelFamily } from "./families.ts";
import { type BedrockGuardrail, createConverseBody } from "./request.ts";
import { BedrockReply } from "./response.ts";
import { type AwsCredentials, signHeaders } from "./signing.ts";
import { withWholeReplies } from "./whole_reply.ts";

/** Options for `createBedrock()`. */
export interface BedrockOptions extends AdapterOptions {
  /**
   * The AWS region, for example `"us-east-1"`. Default: the region of a model id that is an ARN. A `baseUrl` replaces
   * the region's endpoint, but signing still needs the region.
   */
  readonly region?: string | undefined;
  /** Credentials that sign the requests, or a function called at every request that returns them. */
  readonly credentials?:
    | AwsCredentials
    | (() => AwsCredentials | undefined | Promise<AwsCredentials | undefined>)
    | undefined;
  /** A Bedrock API key, used instead of `credentials`. Default: `apiKey`. */
  readonly bearerToken?: ApiKey | undefined;
  /** A guardrail for all requests. Default: none. */
  readonly guardrail?: BedrockGuardrail | undefined;
}

/** Assumed for a model of most families that is not in the catalog. */
const FALLBACK_ENTRY: CatalogEntry = {
  contextWindow: 128_000,
  maxOutput: Infinity,
  thinking: { type: "effort", efforts: ["low", "medium", "high"] },
  images: true,
  strictSchema: false,
};

/** Returns the abilities that are assumed for a model that is not in the catalog. */
function getFallbackEntry(modelId: string): CatalogEntry {
  switch (getModelFamily(modelId).thinking) {
    case "claude":
      return FALLBACK_CLAUDE;
    case "gpt":
      return { ...FALLBACK_ENTRY, temperature: false };
    case "nova":
    case "gpt_oss":
    case "none":
      return FALLBACK_ENTRY;
  }
}

/** Creates the stream function that `createBedrock()` loads. */
export function createBedrockStreamFn(options: BedrockOptions): StreamFn {
  checkAdapterOptions(options);
  checkOptionNames(
    options,
    ["region", "credentials", "bearerToken", "guardrail"],
    "the Bedrock adapter",
  );
  const codec = new EventCodec();
  const resolved = resolveSettings({ ...options, keyHint: options.keyHint ?? KEY_HINT }, "");
  const settings = { ...resolved, fetch: withWholeReplies(resolved.fetch, codec) };
  const context = { options, codec, models: new ModelFinder(settings.catalog) };
  const { connectTimeoutMs, idleTimeoutMs, catalog } = settings;
  const stream = createConverse({ ...context, settings });
  // The response of a complete reply starts when the reply ends.
  const wholeSettings = { ...settings, connectTimeoutMs: connectTimeoutMs + idleTimeoutMs };
  const whole = createConverse({ ...context, settings: wholeSettings });
  return withCatalog(
    (request) => (getModelFamily(request.model.modelId).streamsTools ? stream : whole)(request),
    catalog,
  );
}

interface ConverseContext {
  readonly options: BedrockOptions;
  readonly settings: AdapterSettings;
  readonly codec: EventCodec;
  readonly models: ModelFinder;
}

function createConverse({ options, settings, codec, models }: ConverseContext): StreamFn {
  return createStreamFn({
    settings,
    apiKey: options.bearerToken ?? options.apiKey,
    keyless: true,
    errors: BEDROCK_ERRORS,
    createParser: () => new EventStreamParser((message) => codec.decode(message)),
    createReplyReader: (call) => new BedrockReply(call),
    async prepare({ request, writer }, key) {
      const { modelId } = request.model;
      const { streamsTools } = getModelFamily(modelId);
      const entry = models.find(request.model, writer) ?? getFallbackEntry(modelId);
      const { guardrail } = options;
      const content = await createConverseBody(request, { entry, guardrail }, writer);
      const isWhole = !streamsTools && content["toolConfig"] !== undefined;
      const body = serializeJson(content);
      const region = resolveRegion(request, options);
      const url = createUrl(request, settings, { region, isWhole });
      const [outgoing] = await Promise.all([
        authorizeRequest({ url, body, headers: createHeaders(isWhole) }, {
          key,
          region,
          settings,
          options,
          request,
        }),
        codec.load(),
      ]);
      return outgoing;
    },
  });
}

const KEY_HINT =
  "pass credentials or bearerToken to createBedrock(), or a getApiKey that returns a Bedrock API key to the agent";

function createHeaders(isWhole: boolean): Record<string, string> {
  const accept = isWhole ? "application/json" : "application/vnd.amazon.eventstream";
  return { "content-type": "application/json", accept };
}

/**
 * Returns the configured region, or that of an ARN: `arn:aws:bedrock:us-east-1:123456789012:inference-profile/…`
 *
 * @throws {BadRequestError} When it is not the name of a region. It is a part of the host name, so that any other text
 * could send the request to another host.
 */
function resolveRegion({ model }: StreamRequest, options: BedrockOptions): string | undefined {
  const region = options.region || /^arn:[^:]*:bedrock:([^:]+):/.exec(model.modelId)?.[1];
  if (region === undefined || isRegionName(region)) return region;
  const { provider } = model;
  const message = `Invalid region "${region}" for ${provider}: pass one such as "us-east-1"`;
  throw new BadRequestError(message, { provider });
}

/** Whether a value is the name of a region; callers without types may pass any. */
function isRegionName(region: unknown): boolean {
  return typeof region === "string" && /^[a-z\d-]+$/.test(region);
}

function createUrl(
  { model }: StreamRequest,
  { baseUrl }: AdapterSettings,
  { region, isWhole }: { readonly region: string | undefined; readonly isWhole: boolean },
): string {
  const operation = isWhole ? "converse" : "converse-stream";
  const path = `/model/${encodeModelPath([model.modelId], model)}/${operation}`;
  if (baseUrl !== "") return baseUrl + path;
  if (region === undefined) throw createRegionError(model.provider);
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}${path}`;
}

function createRegionError(provider: string): BadRequestError {
  const message = `No region for ${provider}: pass region (for example "us-east-1") to ` +
    "createBedrock(), or set AWS_REGION for connect()";
  return new BadRequestError(message, { provider });
}

interface AuthorizationContext {
  readonly key: string | undefined;
  readonly region: string | undefined;
  readonly settings: AdapterSettings;
  readonly options: BedrockOptions;
  readonly request: StreamRequest;
}

async function authorizeRequest(
  unsigned: Omit<OutgoingRequest, "secrets">,
  { key, region, settings, options, request }: AuthorizationContext,
): Promise<OutgoingRequest> {
  const { url, headers, body } = unsigned;
  if (key) return { ...unsigned, headers: { ...headers, authorization: `Bearer ${key}` } };
  if (hasKeyHeader(settings)) return unsigned;
  const { provider } = request.model;
  const credentials = await resolveCredentials(options, provider);
  if (!credentials) {
    const message = `No credentials for ${provider}: ${settings.keyHint}`;
    throw new AuthError(message, { provider });
  }
  if (region === undefined) throw createRegionError(provider);
  const signed = await signHeaders(
    // Includes the caller's headers, because AWS requires a signature for some of them.
    { url: appendQuery(url, settings.query), body, headers: { ...headers, ...settings.headers } },
    { credentials, region, now: settings.clock.now() },
  );
  const { secretAccessKey, sessionToken } = credentials;
  const secrets = sessionToken ? [secretAccessKey, sessionToken] : [secretAccessKey];
  return { url, body, headers: signed, secrets };
}

async function resolveCredentials(
  { credentials }: BedrockOptions,
  provider: string,
): Promise<AwsCredentials | undefined> {
  if (typeof credentials !== "function") return credentials;
  try {
    return await credentials();
  } catch (cause) {
    const message = `Could not load the credentials for ${provider}: ${getErrorMessage(cause)}`;
    throw new AuthError(message, { provider, cause });
  }
}
