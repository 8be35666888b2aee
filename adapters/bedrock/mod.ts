/**
 * Amazon Bedrock's Converse API: Claude, Nova, Llama, Mistral and others behind one door.
 *
 * Signing requests and reading Amazon's event stream takes two npm packages, `aws4fetch` and
 * `@smithy/eventstream-codec`. They are loaded when Bedrock is asked for the first time.
 *
 * @module
 */

import { AuthError, BadRequestError, messageOf } from "../../src/core/errors.ts";
import type { StreamFn, StreamRequest } from "../../src/core/stream.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { jsonBody } from "../kit/request/json_body.ts";
import { ModelFinder } from "../kit/request/model_finder.ts";
import {
  type AdapterOptions,
  type AdapterSettings,
  type ApiKey,
  carriesKey,
  settingsOf,
} from "../kit/options/adapter_options.ts";
import { type OutgoingRequest, streamFnOf } from "../kit/provider.ts";
import { namesFromWire, TOOL_NAME_RULE } from "../kit/request/wire_names.ts";
import { BEDROCK_ERRORS } from "./errors.ts";
import { EventCodec } from "./event_codec.ts";
import { familyOf } from "./families.ts";
import { EventStreamParser } from "./frames.ts";
import { converseBody } from "./request.ts";
import { BedrockReply } from "./response.ts";
import { type AwsCredentials, signedHeaders } from "./signing.ts";

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
const UNKNOWN_CLAUDE: CatalogEntry = {
  contextWindow: 200_000,
  maxOutput: 32_000,
  thinking: { type: "effort", efforts: ["low", "medium", "high"] },
  images: true,
  strictSchema: false,
  prefill: false,
};

/** What is supposed of any other model that the catalog does not know. */
const UNKNOWN_MODEL: CatalogEntry = {
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
  const settings = settingsOf({ keyHint: KEY_HINT, ...options }, "");
  const models = new ModelFinder(settings.catalog);
  const codec = new EventCodec();
  return streamFnOf({
    settings,
    apiKey: options.bearerToken ?? options.apiKey,
    keyless: true,
    errors: BEDROCK_ERRORS,
    parser: () => new EventStreamParser((message) => codec.decode(message)),
    reply: ({ request, writer, origin }) => {
      const names = request.context.tools.map(({ name }) => name);
      return new BedrockReply(writer, { toolName: namesFromWire(names, TOOL_NAME_RULE), origin });
    },
    async prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer) ?? unknownModel(request);
      const body = jsonBody(converseBody(request, entry, writer));
      const region = regionOf(request, options);
      const url = addressOf(request, settings, region);
      const [outgoing] = await Promise.all([
        authorized({ url, body, headers: HEADERS }, { key, region, settings, options, request }),
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

function unknownModel({ model }: StreamRequest): CatalogEntry {
  return familyOf(model.modelId).thinking === "claude" ? UNKNOWN_CLAUDE : UNKNOWN_MODEL;
}

/** ARNs name their region: `arn:aws:bedrock:us-east-1:123456789012:inference-profile/…` */
function regionOf({ model }: StreamRequest, { region }: BedrockOptions): string | undefined {
  return region || /^arn:[^:]*:bedrock:([^:]+):/.exec(model.modelId)?.[1];
}

function addressOf(
  { model }: StreamRequest,
  { baseUrl }: AdapterSettings,
  region: string | undefined,
): string {
  const path = `/model/${encodeURIComponent(model.modelId)}/converse-stream`;
  if (baseUrl !== "") return baseUrl + path;
  if (region === undefined) throw noRegion(model.provider);
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}${path}`;
}

function noRegion(provider: string): BadRequestError {
  const message = `${provider} needs a region, for example us-east-1: give createBedrock one, ` +
    "or set AWS_REGION in the environment where connect() is used";
  return new BadRequestError(message, { provider });
}

interface Authorization {
  readonly key: string | undefined;
  readonly region: string | undefined;
  readonly settings: AdapterSettings;
  readonly options: BedrockOptions;
  readonly request: StreamRequest;
}

async function authorized(
  unsigned: Omit<OutgoingRequest, "secrets">,
  { key, region, settings, options, request }: Authorization,
): Promise<OutgoingRequest> {
  const { url, headers, body } = unsigned;
  if (key) return { ...unsigned, headers: { ...headers, authorization: `Bearer ${key}` } };
  if (carriesKey(settings)) return unsigned;
  const { provider } = request.model;
  const credentials = await credentialsOf(options, provider);
  if (!credentials) {
    const message = `There are no credentials for ${provider}: ${settings.keyHint}`;
    throw new AuthError(message, { provider });
  }
  if (region === undefined) throw noRegion(provider);
  const signed = await signedHeaders(
    // The caller's own headers are sent as well, and AWS wants some of them signed.
    { url, body, headers: { ...headers, ...settings.headers } },
    { credentials, region, now: settings.clock.now() },
  );
  return { url, body, headers: signed, secrets: secretsOf(credentials) };
}

async function credentialsOf(
  { credentials }: BedrockOptions,
  provider: string,
): Promise<AwsCredentials | undefined> {
  if (typeof credentials !== "function") return credentials;
  try {
    return await credentials();
  } catch (cause) {
    const message = `The credentials for ${provider} could not be had: ${messageOf(cause)}`;
    throw new AuthError(message, { provider, cause });
  }
}

function secretsOf({ secretAccessKey, sessionToken }: AwsCredentials): string[] {
  return sessionToken ? [secretAccessKey, sessionToken] : [secretAccessKey];
}
