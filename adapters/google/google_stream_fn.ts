/**
 * Stream function for Google's models; `createGoogle()` loads it on the first request.
 *
 * @module
 */

import { BadRequestError } from "../../src/core/errors/errors.ts";
import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import { AUTH, type ErrorTable, UNAVAILABLE } from "../kit/errors/error_table.ts";
import { AccessTokenCache, type GetToken } from "../kit/http/access_token.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { checkOptionNames } from "../kit/options/check_options.ts";
import { createStreamFn } from "../kit/provider.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { ModelFinder } from "../kit/request/model_finder.ts";
import { encodeModelPath } from "../kit/request/model_path.ts";
import { JsonEventParser } from "../kit/stream/json_event_parser.ts";
import { VersionedUrl } from "../kit/versioned_url.ts";
import { GOOGLE_NAME_RULE } from "./names.ts";
import { createGoogleBody } from "./request.ts";
import { GoogleReply } from "./response.ts";

/** Options for `createGoogle()`. */
export interface GoogleOptions extends AdapterOptions {
  /**
   * Base URL of the API. Default: `https://generativelanguage.googleapis.com/v1beta` (the Gemini API). For Vertex AI:
   * `https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers/google`.
   */
  readonly baseUrl?: string | undefined;
  /**
   * Returns a Google Cloud access token, which is sent instead of a key. A token with an expiry time is cached until
   * shortly before that.
   */
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

/** Creates the stream function that `createGoogle()` loads. */
export function createGoogleStreamFn(options: GoogleOptions): StreamFn {
  const settings = resolveSettings(options, "https://generativelanguage.googleapis.com/v1beta");
  checkOptionNames(options, ["getToken"], "the Google adapter");
  const { getToken } = options;
  const tokens = getToken && new AccessTokenCache(getToken, settings.clock);
  const models = new ModelFinder(settings.catalog);
  const isVertex = /\baiplatform\.|\/publishers\//.test(settings.baseUrl);
  const apiUrl = new VersionedUrl(settings.baseUrl.replace(/\/models$/, ""), "/v1beta");
  return createStreamFn({
    settings: tokens ? { ...settings, fetch: tokens.wrapFetch(settings.fetch) } : settings,
    apiKey: tokens ? () => tokens.get() : options.apiKey,
    errors: ERRORS,
    createParser: () => new JsonEventParser(),
    toolNameRule: GOOGLE_NAME_RULE,
    createReplyReader: (call) => new GoogleReply(call, { isVertex }),
    async prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer);
      const isToken = tokens !== undefined && !request.options.apiKey;
      return {
        ...apiUrl.resolve(createPath(request), writer),
        headers: {
          "content-type": "application/json",
          ...(key && (isToken ? { authorization: `Bearer ${key}` } : { "x-goog-api-key": key })),
        },
        body: serializeJson(await createGoogleBody(request, { entry, isVertex }, writer)),
      };
    },
  });
}

/** Matches ids that are paths: a tuned model, a model of another publisher, a deployed model. */
const MODEL_PATH = /^(?:models|tunedModels|endpoints|publishers|projects)\//;

/**
 * Creates the path under the base URL.
 *
 * @throws {BadRequestError} When the id of the model is another path, which would lead to another resource.
 */
function createPath({ model }: StreamRequest): string {
  const { modelId, provider } = model;
  const path = MODEL_PATH.test(modelId) ? modelId : `models/${modelId}`;
  const steps = path.split("/");
  const isPath = MODEL_PATH.test(modelId) || !modelId.includes("/");
  if (!isPath) {
    throw new BadRequestError(`Invalid model id "${modelId}": use one that the provider lists`, {
      provider,
    });
  }
  return `/${encodeModelPath(steps, model)}:streamGenerateContent?alt=sse`;
}
