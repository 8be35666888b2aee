/**
 * Stream functions for servers with an API of OpenAI.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import type { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import type { StreamFn, StreamRequest } from "../../../src/core/streams/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import type { ErrorTable } from "../../kit/errors/error_table.ts";
import type { AdapterSettings, ApiKey } from "../../kit/options/adapter_options.ts";
import { createStreamFn, type ProviderCall } from "../../kit/provider.ts";
import { serializeJson } from "../../kit/request/json_body.ts";
import { ModelFinder } from "../../kit/request/model_finder.ts";
import type { ReplyReader } from "../../kit/stream/event_stream.ts";
import { VersionedUrl } from "../../kit/versioned_url.ts";

/** A server with an API of OpenAI. */
export interface OpenAIServer {
  /** Settings of the adapter. */
  readonly settings: AdapterSettings;
  /** API key of the adapter. */
  readonly apiKey?: ApiKey | undefined;
  /** Advice for when no server listens at a local URL. */
  readonly connectHint?: string | undefined;
  /** Whether requests are sent without a key when there is none. Default: `false`. */
  readonly keyless?: boolean | undefined;
  /** Error codes and messages of the server. */
  readonly errors?: ErrorTable | undefined;
  /** Returns the URL for a model. Default: the path of the API under the `baseUrl`. */
  readonly url?: (modelId: string) => string;
  /** Returns the headers that carry the key of a request. Default: a bearer token. */
  readonly keyHeaders?: (key: string, request: StreamRequest) => Readonly<Record<string, string>>;
  /** Returns further headers of a request. */
  readonly headers?: (request: StreamRequest) => Readonly<Record<string, string>>;
}

/** An API of OpenAI. */
export interface ServerApi {
  /** Path under the `baseUrl`. */
  readonly path: string;
  /** Creates the body of a request; `entry` is `undefined` for a model that is not in the catalog. */
  createBody(
    request: StreamRequest,
    entry: CatalogEntry | undefined,
    writer: BlockWriter,
  ): Promise<JsonObject>;
  /** Creates the reader of a reply. */
  createReplyReader(call: ProviderCall): Promise<ReplyReader<string>>;
}

/** Creates the stream function for an API of a server. */
export function createServerStreamFn(
  { url, headers, keyHeaders = toBearerHeader, ...server }: OpenAIServer,
  { path, createBody, createReplyReader }: ServerApi,
): StreamFn {
  const { baseUrl, catalog } = server.settings;
  const models = new ModelFinder(catalog);
  const apiUrl = new VersionedUrl(withoutApiPath(baseUrl), "/v1");
  return createStreamFn({
    ...server,
    async createParser() {
      const { JsonEventParser } = await import("../../kit/stream/json_event_parser.ts");
      return new JsonEventParser();
    },
    createReplyReader,
    async prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer);
      return {
        ...(url ? { url: url(request.model.modelId) } : apiUrl.resolve(path, writer)),
        headers: {
          "content-type": "application/json",
          ...headers?.(request),
          ...(key && keyHeaders(key, request)),
        },
        body: serializeJson(await createBody(request, entry, writer)),
      };
    },
  });
}

/** Returns a base URL without the path of an API, which a copied URL has. */
export function withoutApiPath(url: string): string {
  return url.replace(/\/(?:chat\/completions|responses)$/, "");
}

/** Returns the header of a bearer token. */
export function toBearerHeader(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}
