/**
 * Google's Gemini, at the Gemini API or at Vertex AI.
 *
 * @module
 */

import type { StreamFn, StreamRequest } from "../../src/core/stream.ts";
import { AccessTokenCache, type GetToken } from "../kit/http/access_token.ts";
import { AUTH, type ErrorTable, UNAVAILABLE } from "../kit/errors/error_table.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { ModelFinder } from "../kit/request/model_finder.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { createStreamFn } from "../kit/provider.ts";
import { GoogleStreamParser } from "./stream_parser.ts";
import { GOOGLE_NAME_RULE } from "./names.ts";
import { createGoogleBody } from "./request.ts";
import { GoogleReply } from "./response.ts";

export type { AccessToken, GetToken } from "../kit/http/access_token.ts";
export type { AdapterOptions } from "../kit/options/adapter_options.ts";

/** Options of {@linkcode createGoogle}. */
export interface GoogleOptions extends AdapterOptions {
  /**
   * Where the models are. Default: the Gemini API. For Vertex AI, the address of the publisher in a project:
   * `https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers/google`.
   */
  readonly baseUrl?: string | undefined;
  /** Gives access tokens of Google Cloud, instead of a key. One that says when it expires is kept until shortly before. */
  readonly getToken?: GetToken | undefined;
}

const ERRORS: ErrorTable = {
  codes: {
    API_KEY_INVALID: AUTH,
    API_KEY_SERVICE_BLOCKED: AUTH,
    UNAUTHENTICATED: AUTH,
    PERMISSION_DENIED: AUTH,
    UNAVAILABLE,
    INTERNAL: UNAVAILABLE,
    DEADLINE_EXCEEDED: UNAVAILABLE,
    ABORTED: UNAVAILABLE,
    CANCELLED: UNAVAILABLE,
  },
};

/**
 * Makes a stream function for Google's models.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createGoogle } from "@swink/agent/adapters/google";
 *
 * const agent = new Agent({
 *   model: "google/gemini-3.8-flash:low",
 *   streamFn: createGoogle({ apiKey: "AIza…" }),
 * });
 * ```
 */
export function createGoogle(options: GoogleOptions = {}): StreamFn {
  const { getToken } = options;
  const settings = resolveSettings(options, "https://generativelanguage.googleapis.com/v1beta");
  const tokens = getToken && new AccessTokenCache(getToken, settings.clock);
  const models = new ModelFinder(settings.catalog);
  return createStreamFn({
    settings: tokens ? { ...settings, fetch: tokens.wrapFetch(settings.fetch) } : settings,
    apiKey: tokens ? () => tokens.get() : options.apiKey,
    errors: ERRORS,
    createParser: () => new GoogleStreamParser(),
    toolNameRule: GOOGLE_NAME_RULE,
    createReplyReader: ({ writer, origin, decodeToolName }) =>
      new GoogleReply(writer, { toolName: decodeToolName, origin }),
    prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer);
      const isToken = tokens !== undefined && !request.options.apiKey;
      return {
        url: createUrl(settings.baseUrl, request),
        headers: {
          "content-type": "application/json",
          ...(key && (isToken ? { authorization: `Bearer ${key}` } : { "x-goog-api-key": key })),
        },
        body: serializeJson(createGoogleBody(request, entry, writer)),
      };
    },
  });
}

/** A tuned model names its own place: `tunedModels/name`. */
function createUrl(baseUrl: string, { model }: StreamRequest): string {
  const { modelId } = model;
  const place = modelId.includes("/")
    ? encodeURI(modelId)
    : `models/${encodeURIComponent(modelId)}`;
  return `${baseUrl}/${place}:streamGenerateContent?alt=sse`;
}
