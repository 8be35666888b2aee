/**
 * Amazon Bedrock's Converse API: Claude, Nova, Llama, Mistral and others behind one door.
 *
 * Signing requests and reading Amazon's event stream takes two npm packages, `aws4fetch` and
 * `@smithy/eventstream-codec`. They are loaded when Bedrock is asked for the first time.
 *
 * @module
 */

import { AuthError, BadRequestError, getErrorMessage } from "../../src/core/errors.ts";
import type { StreamFn, StreamRequest } from "../../src/core/stream.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { ModelFinder } from "../kit/request/model_finder.ts";
import {
  type AdapterOptions,
  type AdapterSettings,
  type ApiKey,
  hasKeyHeader,
  resolveSettings,
} from "../kit/options/adapter_options.ts";
import { createStreamFn, type OutgoingRequest } from "../kit/provider.ts";
import { BEDROCK_ERRORS } from "./errors.ts";
import { EventCodec } from "./event_codec.ts";
import { getModelFamily } from "./families.ts";
import { EventStreamParser } from "./event_stream_parser.ts";
import { createConverseBody } from "./request.ts";
import { BedrockReply } from "./response.ts";
import { type AwsCredentials, signHeaders } from "./signing.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export type { AwsCredentials } from "./signing.ts";

/** Options of {@linkcode createBedrock}. */
export interface BedrockOptions extends AdapterOptions {
  /**
   * The region that is asked, for example `"us-east-1"`; a model that is named by its ARN may do without. A `baseUrl`
   * beats it as the address, but signatures still need it.
   */
  readonly region?: string | undefined;
  /** Keys to sign requests with, or a function that knows them; it is asked at every request. */
  readonly credentials?:
    | AwsCredentials
    | (() => AwsCredentials | undefined | Promise<AwsCredentials | undefined>)
    | undefined;
  /** A Bedrock API key; it beats `credentials`. The same as `apiKey`. */
  readonly bearerToken?: ApiKey | undefined;
}

/** What is supposed of a Claude that the catalog does not know: a new one, rather than an old one. */
const FALLBACK_CLAUDE_ENTRY: CatalogEntry = {
  contextWindow: 200_000,
  maxOutput: 32_000,
  thinking: { type: "effort", efforts: ["low", "medium", "high"] },
  images: true,
  strictSchema: false,
  prefill: false,
};

/** What is supposed of any other model that the catalog does not know. */
const FALLBACK_ENTRY: CatalogEntry = {
  contextWindow: 128_000,
  maxOutput: Infinity,
  thinking: { type: "effort", efforts: ["low", "medium", "high"] },
  images: true,
  strictSchema: false,
};

/**
 * Makes a stream function for Amazon Bedrock.
 *
 * @example
 * ```ts
 * import { createBedrock } from "@swink/agent/adapters/bedrock";
 *
 * const withKey = createBedrock({ region: "us-east-1", bearerToken: "ABSK…" });
 * const signed = createBedrock({
 *   region: "eu-central-1",
 *   credentials: { accessKeyId: "AKIA…", secretAccessKey: "…", sessionToken: "…" },
 * });
 * ```
 */
export function createBedrock(options: BedrockOptions = {}): StreamFn {
  const settings = resolveSettings({ keyHint: KEY_HINT, ...options }, "");
  const models = new ModelFinder(settings.catalog);
  const codec = new EventCodec();
  return createStreamFn({
    settings,
    apiKey: options.bearerToken ?? options.apiKey,
    keyless: true,
    errors: BEDROCK_ERRORS,
    createParser: () => new EventStreamParser((message) => codec.decode(message)),
    createReplyReader: ({ writer, origin, decodeToolName }) =>
      new BedrockReply(writer, { toolName: decodeToolName, origin }),
    async prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer) ?? getFallbackEntry(request);
      const body = serializeJson(createConverseBody(request, entry, writer));
      const region = resolveRegion(request, options);
      const url = createUrl(request, settings, region);
      const [outgoing] = await Promise.all([
        authorizeRequest({ url, body, headers: HEADERS }, {
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
  "give createBedrock credentials or a bearerToken, or the agent a getApiKey with a Bedrock API key";
const HEADERS = {
  "content-type": "application/json",
  accept: "application/vnd.amazon.eventstream",
};

function getFallbackEntry({ model }: StreamRequest): CatalogEntry {
  return getModelFamily(model.modelId).thinking === "claude"
    ? FALLBACK_CLAUDE_ENTRY
    : FALLBACK_ENTRY;
}

/** ARNs name their region: `arn:aws:bedrock:us-east-1:123456789012:inference-profile/…` */
function resolveRegion({ model }: StreamRequest, { region }: BedrockOptions): string | undefined {
  return region || /^arn:[^:]*:bedrock:([^:]+):/.exec(model.modelId)?.[1];
}

function createUrl(
  { model }: StreamRequest,
  { baseUrl }: AdapterSettings,
  region: string | undefined,
): string {
  const path = `/model/${encodeURIComponent(model.modelId)}/converse-stream`;
  if (baseUrl !== "") return baseUrl + path;
  if (region === undefined) throw createRegionError(model.provider);
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}${path}`;
}

function createRegionError(provider: string): BadRequestError {
  const message = `${provider} needs a region, for example us-east-1: give createBedrock one, ` +
    "or set AWS_REGION in the environment where connect() is used";
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
    const message = `There are no credentials for ${provider}: ${settings.keyHint}`;
    throw new AuthError(message, { provider });
  }
  if (region === undefined) throw createRegionError(provider);
  const signed = await signHeaders(
    // The caller's own headers are sent as well, and AWS wants some of them signed.
    { url, body, headers: { ...headers, ...settings.headers } },
    { credentials, region, now: settings.clock.now() },
  );
  return { url, body, headers: signed, secrets: getSecrets(credentials) };
}

async function resolveCredentials(
  { credentials }: BedrockOptions,
  provider: string,
): Promise<AwsCredentials | undefined> {
  if (typeof credentials !== "function") return credentials;
  try {
    return await credentials();
  } catch (cause) {
    const message = `The credentials for ${provider} could not be had: ${getErrorMessage(cause)}`;
    throw new AuthError(message, { provider, cause });
  }
}

function getSecrets({ secretAccessKey, sessionToken }: AwsCredentials): string[] {
  return sessionToken ? [secretAccessKey, sessionToken] : [secretAccessKey];
}
