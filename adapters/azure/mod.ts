/**
 * Connects agents to Azure OpenAI and to other models of Microsoft Foundry.
 *
 * The model id of a request is the name of a deployment, and `baseUrl` is the address of the resource. `api` selects chat
 * completions or the Responses API, `apiVersion` a dated version of the API. The key comes from `apiKey` or from the
 * agent's `getApiKey`; `getToken` returns an Entra ID token instead.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createAzure } from "@swink/agent/adapters/azure";
 *
 * const baseUrl = "https://my-resource.openai.azure.com";
 * const streamFn = createAzure({ baseUrl, apiKey: "…", api: "responses" });
 * const agent = new Agent({ model: "azure/my-deployment", streamFn });
 * ```
 *
 * @module
 */

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { AzureOptions } from "./azure_stream_fn.ts";

export type { AccessToken, GetToken } from "../kit/http/access_token.ts";
export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export type { AzureOptions };

/**
 * Creates a stream function for deployments on Azure.
 *
 * For a deployment whose name differs from that of its model, add an entry to the `catalog`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createAzure } from "@swink/agent/adapters/azure";
 *
 * const agent = new Agent({
 *   model: "azure/gpt-5-mini",
 *   streamFn: createAzure({ baseUrl: "https://my-resource.openai.azure.com", apiKey: "…" }),
 * });
 * ```
 */
export function createAzure(options: AzureOptions = {}): StreamFn {
  const streamFn = lazyStreamFn(async () => {
    const { createAzureStreamFn } = await import("./azure_stream_fn.ts");
    return createAzureStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
