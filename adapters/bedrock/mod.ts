/**
 * Connects agents to Claude, Nova, Llama, Mistral and other models through Amazon Bedrock's Converse API.
 *
 * {@linkcode createBedrock} makes the stream function of an agent; set `region`, or use model ids that are ARNs. The
 * key is a Bedrock API key (`bearerToken` or `apiKey`) or AWS `credentials` that sign the requests; only `connect()`
 * of `@swink/agent/adapters` reads the `AWS_…` variables and the profile files.
 *
 * Signing and decoding need the npm packages `aws4fetch` and `@smithy/eventstream-codec`, which are loaded on the first
 * request: Deno downloads them, other runtimes need them installed.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createBedrock } from "@swink/agent/adapters/bedrock";
 *
 * const agent = new Agent({
 *   model: "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
 *   streamFn: createBedrock({ region: "eu-central-1", bearerToken: "ABSK…" }),
 * });
 * ```
 *
 * @module
 */

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { BedrockOptions } from "./bedrock_stream_fn.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export type { AwsCredentials } from "./signing.ts";
export type { BedrockGuardrail } from "./request.ts";
export type { BedrockOptions };

/**
 * Creates a stream function for Amazon Bedrock.
 *
 * @example Sign requests with temporary credentials
 * ```ts
 * import { createBedrock } from "@swink/agent/adapters/bedrock";
 *
 * const streamFn = createBedrock({
 *   region: "eu-central-1",
 *   credentials: { accessKeyId: "AKIA…", secretAccessKey: "…", sessionToken: "…" },
 * });
 * ```
 */
export function createBedrock(options: BedrockOptions = {}): StreamFn {
  const streamFn = lazyStreamFn(async () => {
    const { createBedrockStreamFn } = await import("./bedrock_stream_fn.ts");
    return createBedrockStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
